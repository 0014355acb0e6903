//! What a person changes of gates that are shared: taking back what one believes, and stopping it for a while.

use core::time::Duration;

use paceline_engine::{Effect, Effects, Engine, GateSnapshot, Owner, Timestamp};

use super::store::Open;
use super::{GateKey, Machine, MachineError};

/// What is done to one gate, by its place.
type Change<'a> = &'a dyn for<'e> Fn(&'e mut Engine, Timestamp, usize) -> Effects<'e>;

impl Machine {
    /// Lets gates of this name, or all gates of a quota of this name, forget what they learned and were told: pauses, windows,
    /// beliefs, an open circuit. What was spent of configured limits stays spent. How many did.
    ///
    /// # Errors
    ///
    /// If the store cannot be read or written.
    pub fn reset(&self, name: &str) -> Result<usize, MachineError> {
        let mut rooms = Vec::new();
        let all = self.inner.store.rooms(|room, _| rooms.push(room));
        all.map_err(MachineError::Store)?;
        let named = |quota: &str, gate: &GateSnapshot| quota == name || *gate.name == *name;
        let mut reset = 0;
        for room in rooms {
            reset += self.change(room, &named, &Engine::reset)?;
        }
        Ok(reset)
    }

    /// The same for this gate alone; `false` if it is not there any more.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    pub fn reset_gate(&self, gate: &GateKey) -> Result<bool, MachineError> {
        self.change_one(gate, &Engine::reset)
    }

    /// Nobody starts at this gate for so long, whatever its upstream says; what is under way goes on. The last word counts,
    /// also where it is a shorter one; no time at all ends it, and so does a reset. `false` if the gate is not there any more.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    pub fn pause(&self, gate: &GateKey, length: Duration) -> Result<bool, MachineError> {
        self.change_one(gate, &|engine, now, place| engine.pause(now, place, length))
    }

    fn change_one(&self, key: &GateKey, change: Change<'_>) -> Result<bool, MachineError> {
        let same =
            |_: &str, gate: &GateSnapshot| (gate.place, &gate.name) == (key.place, &key.name);
        Ok(self.change(key.room, &same, change)? > 0)
    }

    /// One step; whoever has to look after it is called. How many gates were changed.
    fn change(
        &self,
        room: [u8; 16],
        is_meant: &dyn Fn(&str, &GateSnapshot) -> bool,
        change: Change<'_>,
    ) -> Result<usize, MachineError> {
        let mut called = Vec::new();
        let done = self.inner.store.room(room).step(|sections| {
            let mut open = Open(sections);
            let Ok(Some((mut engine, now, quota))) = self.replica(&open) else {
                return 0;
            };
            let gates = engine.snapshot(now).gates.into_iter();
            let meant = gates.filter(|gate| is_meant(&quota, gate));
            let places: Vec<_> = meant.map(|gate| gate.place).collect();
            if places.is_empty() {
                return 0;
            }
            for place in &places {
                let mut effects = change(&mut engine, now, *place);
                called.extend(effects.by_ref().filter_map(called_by));
                effects.finish();
            }
            engine.save(now, now.as_nanos(), &mut open);
            places.len()
        });
        let changed = done.map_err(MachineError::Store)?;
        for owner in called {
            self.ring(owner.number() >> 16);
        }
        Ok(changed)
    }
}

fn called_by(effect: Effect) -> Option<Owner> {
    match effect {
        Effect::Call { owner } => Some(owner),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt;
    use paceline_engine::Reason;
    use paceline_machine::store::Room;

    use super::*;
    use crate::Pace;
    use crate::driver::Called;

    /// A folder of one test, removed in the end.
    struct Lab {
        folder: tempfile::TempDir,
        machine: Machine,
    }

    impl Lab {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let machine = Machine::open_in(&folder.path().join("state")).unwrap();
            Self { folder, machine }
        }

        fn pace(&self, name: &str) -> Pace {
            Pace::builder(name).machine(&self.machine).build()
        }

        fn keys(&self) -> Vec<GateKey> {
            let shared = self.machine.shared().unwrap();
            let keys = shared.iter().map(|own| own.key(&own.snapshot.gates[0]));
            keys.collect()
        }

        fn reason(&self, quota: &str) -> Option<Reason> {
            let shared = self.machine.shared().unwrap();
            let mut shared = shared.iter().filter(|own| own.name == quota);
            shared.next().unwrap().snapshot.gates[0].reason
        }

        fn room(&self, key: &GateKey) -> Room {
            self.machine.inner.store.room(key.room)
        }
    }

    struct Hears(std::sync::mpsc::Sender<()>);

    impl Called for Hears {
        fn called(&self) {
            let _ = self.0.send(());
        }
    }

    #[test]
    fn no_pace_has_the_number_of_whoever_only_looks_on() {
        let lab = Lab::new();
        for _ in 0..70_000 {
            assert_ne!(lab.machine.number(), lab.machine.onlooker());
        }
    }

    #[tokio::test]
    async fn one_gate_is_paused_and_reset_and_others_go_on() {
        let lab = Lab::new();
        let (api, other) = (lab.pace("api"), lab.pace("other"));
        let (want, others) = (api.want(), other.want());
        drop(api.acquire(&want).await.unwrap());
        drop(other.acquire(&others).await.unwrap());
        let keys = lab.keys();
        assert!(lab.machine.pause(&keys[0], Duration::from_mins(1)).unwrap());
        assert_eq!(lab.reason("api"), Some(Reason::ByHand));
        assert_eq!(lab.reason("other"), None);
        let mut waits = std::pin::pin!(api.acquire(&want));
        assert!(waits.as_mut().now_or_never().is_none());
        drop(other.acquire(&others).await.unwrap());
        // Whoever waits looks by itself, too; that its bell was rung is heard by all of its process.
        let (tell, told) = std::sync::mpsc::channel();
        let hears: Arc<dyn Called> = Arc::new(Hears(tell));
        let listeners = &lab.machine.inner.listeners;
        listeners.lock().insert(0, Arc::downgrade(&hears));
        assert!(lab.machine.reset_gate(&keys[0]).unwrap());
        let patience = Duration::from_secs(20);
        told.recv_timeout(patience).expect("the bell was rung");
        let soon = tokio::time::timeout(patience, waits);
        drop(soon.await.expect("it went on").unwrap());
        assert_eq!(lab.reason("api"), None);
    }

    #[tokio::test]
    async fn a_gate_that_is_gone_or_has_another_name_is_not_changed() {
        let lab = Lab::new();
        let api = lab.pace("api");
        drop(api.acquire(&api.want()).await.unwrap());
        let key = lab.keys().remove(0);
        let mut other = key.clone();
        other.name = "renamed".into();
        assert!(!lab.machine.pause(&other, Duration::from_mins(1)).unwrap());
        assert_eq!(lab.reason("api"), None);
        drop(api);
        lab.room(&key).remove().unwrap();
        assert!(!lab.machine.pause(&key, Duration::from_mins(1)).unwrap());
        assert!(!lab.machine.reset_gate(&key).unwrap());
    }

    #[tokio::test]
    async fn a_record_that_cannot_be_read_is_named_and_not_touched() {
        let lab = Lab::new();
        let api = lab.pace("api");
        drop(api.acquire(&api.want()).await.unwrap());
        let key = lab.keys().remove(0);
        // Format 99 in the head: a newer version's.
        let newer = [0x88, 1, 1, 0x18, 99, 1, 0, 0, 0, 0x80];
        for (head, says) in [
            (
                newer.as_slice(),
                "api is left out: section 0 of the record cannot be read: a newer version wrote it; update this program",
            ),
            (
                b"?",
                "api is left out: section 0 of the record cannot be read: ",
            ),
        ] {
            lab.room(&key).step(|own| own.put(0, head)).unwrap();
            let survey = lab.machine.survey().unwrap();
            assert!(survey.shared.is_empty());
            let left_out = survey.left_out[0].to_string();
            assert!(left_out.starts_with(says), "{left_out}");
            assert!(!lab.machine.pause(&key, Duration::from_mins(1)).unwrap());
            let kept = lab.room(&key).step(|own| own.get(0).map(<[u8]>::to_vec));
            assert_eq!(kept.unwrap().as_deref(), Some(head));
        }
        assert!(lab.folder.path().exists());
    }
}
