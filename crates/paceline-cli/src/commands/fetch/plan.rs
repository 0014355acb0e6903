//! What was typed and configured, checked: upstreams and their limits.

use std::path::{Path, PathBuf};

use paceline::Paceline;
use paceline::config::Config;
use paceline::upstream::{Share, Upstream};

use crate::args::FetchArgs;
use crate::output::Stop;

/// The configuration that is read if none is named.
const USUAL_FILE: &str = "paceline.toml";

/// The paces of all upstreams.
///
/// # Errors
///
/// What was typed or configured is wrong, or not there yet.
pub(super) fn paceline(args: &FetchArgs) -> Result<Paceline, Stop> {
    refuse_what_comes_later(args)?;
    let mut config = match file(args) {
        Some(path) => Config::load(path).map_err(Stop::usage)?,
        None => Config::default(),
    };
    for (name, upstream) in &config.upstreams {
        share(&upstream.share, &format!("upstream.{name}.share"))?;
        if let Some(dialect) = &upstream.dialect {
            return Err(no_dialect(&format!("upstream.{name}.dialect"), dialect));
        }
    }
    // What is typed adds to what is configured.
    for upstream in config.upstreams.values_mut() {
        upstream.limits.extend(args.limit.iter().cloned());
    }
    let mut others = Upstream::default();
    others.limits.clone_from(&args.limit);
    Ok(Paceline::builder().config(config).others(others).build())
}

fn file(args: &FetchArgs) -> Option<PathBuf> {
    let usual = || Path::new(USUAL_FILE).exists().then(|| USUAL_FILE.into());
    args.config.clone().or_else(usual)
}

fn refuse_what_comes_later(args: &FetchArgs) -> Result<(), Stop> {
    if args.plot.is_some() {
        return Err(Stop::usage(
            "--plot: this version draws no charts yet; --json prints the numbers",
        ));
    }
    if let Some(dialect) = &args.dialect {
        return Err(no_dialect("--dialect", dialect));
    }
    share(
        &args
            .share
            .parse()
            .map_err(|error| Stop::usage(format!("--share: {error}")))?,
        "--share",
    )
}

fn share(share: &Share, key: &str) -> Result<(), Stop> {
    match share {
        Share::Process => Ok(()),
        later => Err(Stop::usage(format!(
            "{key}: {later}: this version cannot share with other processes yet; expected process"
        ))),
    }
}

fn no_dialect(key: &str, name: &str) -> Stop {
    Stop::usage(format!(
        "{key}: there is no dialect {name:?}, this version has none yet; leave it out, the usual \
         headers are understood"
    ))
}
