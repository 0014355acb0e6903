//! What was configured: which file says it, and what of it this version cannot do yet.

use std::path::Path;

use paceline::config::Config;
use paceline::upstream::Share;

use crate::output::Stop;

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
    let missing = upstreams.flat_map(|(name, upstream)| {
        let dialect = upstream.dialect.as_deref();
        let dialect = dialect.map(|own| no_dialect(&format!("upstream.{name}.dialect"), own));
        let share = no_share(&format!("upstream.{name}.share"), &upstream.share);
        dialect.into_iter().chain(share)
    });
    missing.collect()
}

/// Why a dialect is not spoken.
pub(crate) fn no_dialect(key: &str, name: &str) -> String {
    format!(
        "{key}: there is no dialect {name:?}, this version has none yet; leave it out, the usual \
         headers are understood"
    )
}

/// Why a gate is not shared so far, if it is not.
pub(crate) fn no_share(key: &str, share: &Share) -> Option<String> {
    (*share != Share::Process).then(|| {
        format!(
            "{key}: {share}: this version does not share a pace with other processes yet; expected \
             process"
        )
    })
}
