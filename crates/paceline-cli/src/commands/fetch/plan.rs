//! What was typed and configured, checked: upstreams and their limits.

use paceline::Paceline;
use paceline::upstream::Upstream;

use crate::args::FetchArgs;
use crate::output::Stop;
use crate::settings;

/// The paces of all upstreams.
///
/// # Errors
///
/// What was typed or configured is wrong, or not there yet.
pub(super) fn paceline(args: &FetchArgs) -> Result<Paceline, Stop> {
    refuse_what_comes_later(args)?;
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
    }
    let mut others = Upstream::default();
    others.limits.clone_from(&args.limit);
    others.dialect = named;
    Ok(Paceline::builder().config(config).others(others).build())
}

fn refuse_what_comes_later(args: &FetchArgs) -> Result<(), Stop> {
    if args.plot.is_some() {
        return Err(Stop::usage(
            "--plot: this version draws no charts yet; --json prints the numbers",
        ));
    }
    let share = args
        .share
        .parse()
        .map_err(|error| Stop::usage(format!("--share: {error}")))?;
    match settings::no_share("--share", &share) {
        Some(message) => Err(Stop::usage(message)),
        None => Ok(()),
    }
}
