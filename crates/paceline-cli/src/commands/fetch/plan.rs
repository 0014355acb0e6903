//! What was typed and configured, checked: upstreams and their limits.

use paceline::Paceline;
use paceline::upstream::{Share, Upstream};

use crate::args::FetchArgs;
use crate::output::{Output, Stop};
use crate::settings;

/// The paces of all upstreams.
///
/// # Errors
///
/// What was typed or configured is wrong, or not there yet.
pub(super) fn paceline(args: &FetchArgs, output: &Output) -> Result<Paceline, Stop> {
    let share = share(args)?;
    let mut config = settings::load(args.config.as_deref())?;
    let not_yet = settings::not_yet(&config);
    if !not_yet.is_empty() {
        return Err(Stop::usage(not_yet.join("\nerror: ")));
    }
    let named = match &args.dialect {
        Some(name) => Some(settings::dialect("--dialect", name, &config)?),
        None => None,
    };
    // What is typed adds to what is configured.
    for upstream in config.upstreams.values_mut() {
        upstream.limits.extend(args.limit.iter().cloned());
        upstream.dialect = upstream.dialect.take().or_else(|| named.clone());
        upstream.share = share.clone().unwrap_or_else(|| upstream.share.clone());
    }
    let mut others = Upstream::default();
    others.limits.clone_from(&args.limit);
    others.dialect = named;
    others.share = share.unwrap_or_default();
    let shares = |upstream: &Upstream| upstream.share == Share::Machine;
    let shared = config.upstreams.values().any(shares) || shares(&others);
    let mut paceline = Paceline::builder().config(config).others(others);
    if shared && let Some(machine) = settings::machine(output) {
        paceline = paceline.machine(&machine);
    }
    Ok(paceline.build())
}

/// How far paces are shared, if that was typed. Refuses what comes later.
fn share(args: &FetchArgs) -> Result<Option<Share>, Stop> {
    if args.plot.is_some() {
        return Err(Stop::usage(
            "--plot: this version draws no charts yet; --json prints the numbers",
        ));
    }
    let Some(share) = &args.share else {
        return Ok(None);
    };
    let share = share
        .parse()
        .map_err(|error| Stop::usage(format!("--share: {error}")))?;
    match settings::no_share("--share", &share) {
        Some(message) => Err(Stop::usage(message)),
        None => Ok(Some(share)),
    }
}
