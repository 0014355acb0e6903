//! What was configured: which file says it, and what of it this version cannot do yet.

use std::path::Path;
use std::sync::Arc;

use paceline::Machine;
use paceline::config::Config;
use paceline::dialect::Provider;
use paceline::upstream::Share;

use crate::output::{Output, Stop};

/// The configuration that is read if none is named.
pub(crate) const USUAL_FILE: &str = "paceline.toml";

/// The named configuration, else the usual one, else none.
///
/// # Errors
///
/// There is a file and something is wrong with it.
pub(crate) fn load(named: Option<&Path>) -> Result<Config, Stop> {
    let usual = Path::new(USUAL_FILE);
    match named.or_else(|| usual.exists().then_some(usual)) {
        Some(file) => read(file),
        None => Ok(Config::default()),
    }
}

/// The configuration in a file.
///
/// # Errors
///
/// All that is wrong with it, one error a line.
pub(crate) fn read(file: &Path) -> Result<Config, Stop> {
    Config::load(file).map_err(|errors| {
        let errors: Vec<_> = errors.into_iter().map(|error| error.to_string()).collect();
        Stop::usage(errors.join("\nerror: "))
    })
}

/// What a configuration asks for and this version cannot do: key and reason, one a line.
pub(crate) fn not_yet(config: &Config) -> Vec<String> {
    let upstreams = config.upstreams.iter();
    let missing = upstreams.filter_map(|(name, upstream)| {
        no_share(&format!("upstream.{name}.share"), &upstream.share)
    });
    missing.collect()
}

/// The dialect that an option names: one of the configuration's own, or a built-in one.
///
/// # Errors
///
/// There is none of this name.
pub(crate) fn dialect(option: &str, name: &str, config: &Config) -> Result<Arc<Provider>, Stop> {
    let found = config.dialect(name);
    found.map_err(|error| Stop::usage(format!("{option}: {error}")))
}

/// What the processes of this machine share, or `None` and a line that says what happens now.
pub(crate) fn machine(output: &Output) -> Option<Machine> {
    match Machine::open() {
        Ok(machine) => {
            for note in machine.notes() {
                output.talk(format_args!("warning: {note}"));
            }
            Some(machine)
        }
        Err(error) => {
            output.talk(format_args!(
                "warning: {error}; until then paces are kept for this process alone"
            ));
            None
        }
    }
}

/// Why a gate is not shared so far, if it is not.
pub(crate) fn no_share(key: &str, share: &Share) -> Option<String> {
    matches!(share, Share::Redis(_)).then(|| {
        format!(
            "{key}: {share}: this version does not share a pace with other machines yet; expected \
             process or machine"
        )
    })
}
