use core::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::*;
use crate::commands::top::keys::Key;
use crate::commands::top::row::tests::{ms, row};
use crate::commands::top::row::{Looked, Row};

const COLOURED: Theme = Theme { colours: true };
const PLAIN: Theme = Theme { colours: false };

fn model(rows: Vec<Row>) -> Model {
    let mut model = Model::new("/home/me/state".into(), Duration::from_secs(1));
    let waiting = rows.iter().map(|row| row.gate.waiting).sum();
    model.looked(Looked {
        rows,
        waiting,
        left_out: Vec::new(),
    });
    model
}

fn three() -> Vec<Row> {
    vec![
        row(1, "origin", &["10/s burst 50", "4 in flight"], 6, ms(0)),
        row(2, "search", &["2/s"], 5, ms(0)),
        row(3, "origin", &[], 0, ms(0)),
    ]
}

fn drawn(model: &mut Model, theme: Theme, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    model.fit(super::height(model, Rect::new(0, 0, width, height)));
    terminal.draw(|frame| draw(model, theme, frame)).unwrap();
    terminal.backend().buffer().clone()
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let rows = buffer.area.rows();
    rows.map(|row| {
        let cells = row.columns().map(|cell| buffer[(cell.x, cell.y)].symbol());
        cells.collect::<String>().trim_end().to_owned()
    })
    .collect()
}

fn screen(model: &mut Model, width: u16, height: u16) -> String {
    lines(&drawn(model, PLAIN, width, height)).join("\n")
}

#[test]
fn gates_are_lines_and_the_selected_one_is_explained() {
    let screen = screen(&mut model(three()), 112, 18);
    insta::assert_snapshot!(screen, @r"
    paceline top: 3 gates, 5 waiting, every 1 s
    UPSTREAM                   GATE    PACE            WAITING ▼    IN FLIGHT    REFUSED  CIRCUIT    NEXT ONE
    https://api-2.example.com  search  2/s                     3            2          0  closed     in 1.00 s: the…
    https://api-1.example.com  origin  10/s burst 50           2            4          0  closed     as many reques…
    https://api-3.example.com  origin                          0            0          0  closed     at once





    ────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    search of https://api-2.example.com (2 take part)
      the next one in 1.00 s: the configured limit is used up for now
      2/s: 0 could go at once



    q quit  ? keys  s sort  p pause  r reset  ↑↓ select
    ");
}

#[test]
fn what_there_is_no_room_for_goes_and_the_gates_stay() {
    let mut model = model(three());
    model.said = Some("reset: origin".into());
    insta::assert_snapshot!(screen(&mut model, 40, 8), @r"
    paceline top: 3 gates, 5 waiting, every…
    UPSTREAM                       WAITING ▼
    https://api-2.example.com              3
    https://api-1.example.com              2
    https://api-3.example.com              0

    reset: origin
    q quit  ? keys  s sort  p pause  r rese…
    ");
    insta::assert_snapshot!(screen(&mut model, 20, 2), @r"
    api-2.example.com
    reset: origin
    ");
    for width in 0..60 {
        for height in 0..30 {
            let lines = lines(&drawn(&mut model, COLOURED, width, height));
            let is_seen = lines.iter().any(|line| line.contains("api"));
            assert_eq!(is_seen, width > 3 && height > 0, "{width} {height}");
        }
    }
}

#[test]
fn questions_and_keys_lie_over_it_in_any_size() {
    let mut model = model(three());
    for (key, says) in [
        ('?', "q  Ctrl-C       quit"),
        ('p', "for how long: 1m_"),
        ('r', "y: reset it   n: leave it"),
    ] {
        assert_eq!(model.press(Key::Char(key)), None);
        let text = screen(&mut model, 80, 24);
        assert!(text.contains(says), "{text}");
        for (width, height) in [(0, 0), (1, 1), (2, 2), (3, 30), (30, 3), (500, 200)] {
            drawn(&mut model, COLOURED, width, height);
        }
        assert_eq!(model.press(Key::Escape), None);
    }
}

#[test]
fn the_question_names_the_gate_and_what_is_wrong() {
    let mut model = model(three());
    for key in [Key::Down, Key::Char('p'), Key::Char('5'), Key::Enter] {
        assert_eq!(model.press(key), None);
    }
    let text = screen(&mut model, 80, 24);
    assert!(
        text.contains("origin of https://api-1.example.com"),
        "{text}"
    );
    assert!(text.contains("\"5\" has no unit"), "{text}");
}

#[test]
fn an_empty_folder_is_said_in_the_words_of_status_once_it_has_been_looked_at() {
    let mut before = Model::new("/home/me/state".into(), Duration::from_secs(1));
    assert!(!screen(&mut before, 60, 10).contains("no pace"));
    let text = screen(&mut model(Vec::new()), 60, 10);
    assert!(text.contains("no pace is shared"), "{text}");
    assert!(text.contains("in /home/me/state"), "{text}");
}

#[test]
fn what_goes_wrong_is_said_in_the_order_of_its_weight() {
    let mut model = model(three());
    model.looked(Looked {
        rows: three(),
        waiting: 0,
        left_out: vec!["a is left out".into(), "b is left out".into()],
    });
    let says = |model: &mut Model, words: &str| {
        let text = screen(model, 90, 20);
        assert!(text.contains(words), "{text}");
        assert!(text.contains("api-1.example.com"), "{text}");
    };
    says(&mut model, "a is left out (and 1 more)");
    model.said = Some("reset: origin".into());
    says(&mut model, "reset: origin");
    model.silent = Some(ms(3_400));
    says(&mut model, "the folder has not answered for 3s");
    model.trouble = Some("cannot read it".into());
    says(&mut model, "cannot read it");
}

#[test]
fn without_colours_there_is_none_and_the_selected_line_is_reversed() {
    let rows = vec![row(1, "origin", &[], 2, ms(60_000))];
    let mut model = model(rows);
    model.trouble = Some("trouble".into());
    let coloured = drawn(&mut model, COLOURED, 120, 20);
    assert!(coloured.content.iter().any(|cell| cell.fg == Color::Yellow));
    assert!(coloured.content.iter().any(|cell| cell.fg == Color::Red));
    let plain = drawn(&mut model, PLAIN, 120, 20);
    for cell in &plain.content {
        assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
    }
    let reversed = |y| plain[(0, y)].modifier.contains(Modifier::REVERSED);
    assert_eq!([1, 2, 3].map(reversed), [false, true, false]);
    assert_eq!(lines(&plain), lines(&coloured));
}

#[test]
fn no_color_counts_if_it_is_anything_but_empty() {
    let colours = |no_color: Option<&str>| Theme::of(no_color.map(AsRef::as_ref)).colours;
    assert_eq!(
        [None, Some(""), Some("1"), Some("0")].map(colours),
        [true, true, false, false]
    );
}

/// What others wrote is text and nothing else.
#[test]
fn control_characters_do_not_reach_the_terminal() {
    let mut hostile = row(1, "origin", &[], 0, ms(0));
    hostile.gate.name = "evil\x1b[2J\x07\r\ngate".into();
    hostile.upstream = "up\x1b]0;title\x07stream".into();
    let mut model = model(vec![hostile]);
    for keys in ["", "p"] {
        for key in keys.chars() {
            model.press(Key::Char(key));
        }
        let buffer = drawn(&mut model, COLOURED, 120, 20);
        let mut symbols = buffer.content.iter().map(|cell| cell.symbol());
        assert!(!symbols.any(|symbol| symbol.contains(char::is_control)));
    }
}

#[test]
fn wide_characters_are_cut_whole_and_keep_the_columns_apart() {
    let mut wide = row(1, "origin", &["2/s"], 3, ms(0));
    wide.gate.name = "検索検索検索検索検索".into();
    wide.upstream =
        "https://例え例え例え例え例え例え例え例え例え例え例え例え例え例え例え.jp".into();
    let rows = vec![wide, row(2, "origin", &["2/s"], 3, ms(0))];
    let mut model = model(rows);
    for width in 0..160 {
        let buffer = drawn(&mut model, COLOURED, width, 20);
        for cell in buffer.area.rows().flat_map(Rect::columns) {
            let symbol = buffer[(cell.x, cell.y)].symbol();
            let end = usize::from(cell.x) + cut::columns(symbol);
            assert!(end <= usize::from(width), "{symbol} at {width}");
        }
    }
    let buffer = drawn(&mut model, PLAIN, 120, 20);
    let titles = &lines(&buffer)[1];
    let before = titles.split("CIRCUIT").next().unwrap();
    let at = u16::try_from(cut::columns(before)).unwrap();
    for y in [2, 3] {
        let cells = (at..at + 6).map(|x| buffer[(x, y)].symbol());
        assert_eq!(cells.collect::<String>(), "closed");
    }
}

#[test]
fn thousands_of_gates_are_scrolled_through() {
    let mut rows = Vec::new();
    for number in 0..10_000_u32 {
        let mut row = row(1, &format!("gate-{number:04}"), &[], 0, ms(0));
        row.key.place = usize::try_from(number).unwrap();
        rows.push(row);
    }
    let mut model = model(rows);
    assert!(screen(&mut model, 80, 24).contains("gate-0000"));
    model.press(Key::End);
    let text = screen(&mut model, 80, 24);
    assert!(text.contains("gate-9999"), "{text}");
    assert!(!text.contains("gate-0000"), "{text}");
    model.press(Key::PageUp);
    assert!(!screen(&mut model, 80, 24).contains("gate-9999"));
}
