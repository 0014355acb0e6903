//! Scores as Markdown.

use core::fmt::Write;

use super::{Match, Score};
use crate::policy::Kind;

/// A section of the page: scores of all, then of each group, then what Paceline misses.
pub fn section(title: &str, intro: &str, matches: &[Match]) -> String {
    let mut page = format!("## {title}\n\n{intro}\n\n");
    page.push_str("| group | policy | met | of | mean | worst | refused | failed |\n");
    page.push_str("|---|---|---:|---:|---:|---:|---:|---:|\n");
    rows(&mut page, "**all**", matches, |_| true);
    for group in groups(matches) {
        rows(&mut page, group, matches, |played| played.group == group);
    }
    page.push('\n');
    misses(&mut page, matches);
    page
}

fn groups(matches: &[Match]) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for played in matches {
        if !groups.contains(&played.group.as_str()) {
            groups.push(&played.group);
        }
    }
    groups
}

fn rows(page: &mut String, title: &str, matches: &[Match], is_in: impl Fn(&Match) -> bool) {
    for policy in Kind::ALL {
        let of_policy = |played: &&Match| played.policy == *policy && is_in(played);
        if !matches.iter().any(|played| of_policy(&played)) {
            continue;
        }
        let score = Score::of(matches.iter().filter(of_policy));
        let (mean, worst) = match score.mean() {
            Some(mean) => (format!("{mean:.3}"), format!("{:.2}", score.worst)),
            None => ("–".to_owned(), "–".to_owned()),
        };
        let Score {
            met,
            of,
            refused,
            failed,
            ..
        } = score;
        let name = policy.name();
        line(
            page,
            format_args!(
                "| {title} | {name} | {met} | {of} | {mean} | {worst} | {refused} | {failed} |"
            ),
        );
    }
}

fn misses(page: &mut String, matches: &[Match]) {
    let missed = |played: &&Match| {
        played.policy == Kind::Paceline && played.target.is_some() && !played.is_met()
    };
    let missed: Vec<&Match> = matches.iter().filter(missed).collect();
    if missed.is_empty() {
        page.push_str("Paceline misses no target.\n\n");
        return;
    }
    line(page, format_args!("Paceline misses {}:\n", missed.len()));
    page.push_str("| scenario | seconds | at most | refused | at most | failed | at most |\n");
    page.push_str("|---|---:|---:|---:|---:|---:|---:|\n");
    for played in missed {
        let (Some(target), Some(figures)) = (played.target, played.figures()) else {
            continue;
        };
        // A pipe would end the cell.
        let name = played.name.replace('|', "\\|");
        let (elapsed, refused) = (figures.elapsed.as_secs_f64(), figures.refused);
        let failed = figures.failed;
        line(
            page,
            format_args!(
                "| {name} | {} | {:.2} | {} | {} | {} | {} |",
                bold(elapsed > target.elapsed, format!("{elapsed:.2}")),
                target.elapsed,
                bold(refused > target.refused, refused.to_string()),
                target.refused,
                bold(failed > target.failed, failed.to_string()),
                target.failed,
            ),
        );
    }
    page.push('\n');
}

fn bold(is_missed: bool, text: String) -> String {
    if is_missed {
        format!("**{text}**")
    } else {
        text
    }
}

fn line(page: &mut String, text: core::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("a string has room");
}
