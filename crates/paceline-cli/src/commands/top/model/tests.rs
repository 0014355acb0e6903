use super::super::prompt::What;
use super::super::row::tests::{ms, row};
use super::*;

/// So many gates, the last ones with the most waiting.
fn model(gates: u8) -> Model {
    let mut model = Model::default();
    look(&mut model, rows(gates));
    model.fit(5);
    model
}

fn rows(gates: u8) -> Vec<Row> {
    let gates = 1..=gates;
    gates
        .map(|number| row(number, "origin", &["1/s"], number, ms(0)))
        .collect()
}

fn look(model: &mut Model, rows: Vec<Row>) {
    model.looked(Looked {
        rows,
        ..Looked::default()
    });
}

fn press(model: &mut Model, keys: &str) {
    for key in keys.chars() {
        assert_eq!(model.press(Key::Char(key)), None);
    }
}

fn selected(model: &Model) -> Option<u8> {
    model.selected().map(|row| row.key.room[0])
}

fn shown(model: &Model) -> Vec<u8> {
    model.shown().map(|(row, _)| row.key.room[0]).collect()
}

#[test]
fn the_first_is_selected_and_the_selection_stays_with_its_gate() {
    let mut model = model(8);
    assert_eq!(selected(&model), Some(8));
    press(&mut model, "j");
    assert_eq!(selected(&model), Some(7));
    press(&mut model, "o");
    assert_eq!(shown(&model)[0], 3, "it is the last but one now");
    assert_eq!(selected(&model), Some(7));
    let mut fewer = rows(8);
    fewer.retain(|row| row.key.room[0] > 2);
    look(&mut model, fewer);
    assert_eq!(selected(&model), Some(7));
}

#[test]
fn where_the_selected_gate_goes_its_neighbour_is_selected() {
    let mut model = model(3);
    model.press(Key::End);
    assert_eq!(selected(&model), Some(1));
    let mut fewer = rows(3);
    fewer.remove(0);
    look(&mut model, fewer);
    assert_eq!(selected(&model), Some(2));
    look(&mut model, Vec::new());
    assert_eq!(selected(&model), None);
    look(&mut model, rows(3));
    assert_eq!(selected(&model), Some(3));
}

#[test]
fn the_selected_gate_is_always_shown() {
    let mut model = model(20);
    let keys = [
        (Key::PageDown, 15),
        (Key::PageDown, 10),
        (Key::Down, 9),
        (Key::Up, 10),
        (Key::End, 1),
        (Key::PageUp, 6),
        (Key::Home, 20),
        (Key::Up, 20),
    ];
    for (key, gate) in keys {
        model.press(key);
        assert_eq!(selected(&model), Some(gate), "{key:?}");
        for height in [5, 1, 50, 0, 3] {
            model.fit(height);
            let shown = shown(&model);
            assert_eq!(shown.len(), height.min(20));
            assert!(height == 0 || shown.contains(&gate), "{height}: {shown:?}");
        }
        model.fit(5);
    }
}

#[test]
fn a_table_that_grows_shows_no_empty_lines() {
    let mut model = model(20);
    model.press(Key::End);
    assert_eq!(shown(&model), [5, 4, 3, 2, 1]);
    model.fit(10);
    assert_eq!(shown(&model).len(), 10);
}

#[test]
fn a_pause_is_asked_for_and_confirmed() {
    let mut model = model(3);
    press(&mut model, "jp5m");
    look(&mut model, rows(1));
    let Some(Order::Change(change)) = model.press(Key::Enter) else {
        panic!("{model:?}");
    };
    assert_eq!(change.gate.room[0], 2, "the one that was asked about");
    assert_eq!(change.pause, Some(ms(300_000)));
    assert_eq!(model.over, Over::Nothing);
}

#[test]
fn a_reset_is_asked_for_and_nothing_else_happens_meanwhile() {
    let mut model = model(3);
    press(&mut model, "r");
    press(&mut model, "jso?pn");
    assert_eq!((selected(&model), model.sort), (Some(3), Sort::Waiting));
    assert_eq!(model.over, Over::Nothing);
    press(&mut model, "r");
    let Over::Prompt(prompt) = &model.over else {
        panic!("{model:?}");
    };
    assert_eq!(prompt.what, What::Reset);
    let order = model.press(Key::Char('y'));
    assert!(matches!(order, Some(Order::Change(change)) if change.pause.is_none()));
}

#[test]
fn where_there_is_nothing_nothing_can_be_changed() {
    let mut model = model(0);
    press(&mut model, "prjkgGsSo");
    assert_eq!(model.over, Over::Nothing);
    assert_eq!(model.press(Key::Char('q')), Some(Order::Quit));
}

#[test]
fn any_key_ends_the_help_and_ctrl_c_ends_it_all() {
    let mut model = model(1);
    press(&mut model, "?");
    assert_eq!(model.over, Over::Help);
    press(&mut model, "q");
    assert_eq!(model.over, Over::Nothing);
    for over in ["", "?", "p", "r"] {
        press(&mut model, over);
        assert_eq!(model.press(Key::Interrupt), Some(Order::Interrupt));
        assert_eq!(model.press(Key::Suspend), Some(Order::Suspend));
        model.press(Key::Escape);
    }
}

#[test]
fn a_good_look_ends_trouble() {
    let mut model = model(1);
    model.trouble = Some("cannot read".into());
    model.silent = Some(ms(3_000));
    look(&mut model, rows(1));
    assert_eq!((model.trouble, model.silent), (None, None));
}
