//! What ends a run early: a stop signal of another thread, a time limit, or a signal of the process.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use destage_core::{Interrupt, Interruption};
use pyo3::prelude::*;

/// Interval at which signals are handled [ms]: handling needs the GIL.
const SIGNALS: Duration = Duration::from_millis(50);

/// Stops runs from another thread.
#[pyclass(frozen, module = "destage.engine._engine")]
#[derive(Default)]
pub struct StopSignal {
    is_set: AtomicBool,
}

#[pymethods]
impl StopSignal {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops all runs that have this signal, and those that will.
    fn set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
    }

    /// Whether it is set.
    #[getter]
    fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }
}

/// Whether this is the thread on which Python handles signals.
pub fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}

/// What may end the runs of one call, which all happen on one thread.
pub struct Interrupts<'a> {
    stop: Option<&'a StopSignal>,
    /// Time limit of each run.
    limit: Option<Duration>,
    run_began: Cell<Instant>,
    /// When signals are handled next; none on a thread that receives no signals.
    next_signals: Cell<Option<Instant>>,
    /// What the handler of a signal raised.
    raised: RefCell<Option<PyErr>>,
}

impl<'a> Interrupts<'a> {
    /// Those of a call on this thread.
    pub fn new(is_main_thread: bool, stop: Option<&'a StopSignal>, limit: Option<Duration>) -> Self {
        let now = Instant::now();
        Self {
            stop,
            limit,
            run_began: Cell::new(now),
            next_signals: Cell::new(is_main_thread.then(|| now + SIGNALS)),
            raised: RefCell::default(),
        }
    }

    /// Starts the time of the next run.
    pub fn begin_run(&self) {
        self.run_began.set(Instant::now());
    }

    /// What the handler of a signal raised, once.
    pub fn take_raised(&self) -> Option<PyErr> {
        self.raised.take()
    }
}

impl Interrupt for Interrupts<'_> {
    fn check(&self) -> Result<(), Interruption> {
        if self.stop.is_some_and(StopSignal::is_set) {
            return Err(Interruption::Stopped);
        }
        let now = Instant::now();
        if let Some(limit) = self.limit
            && now.duration_since(self.run_began.get()) >= limit
        {
            return Err(Interruption::TimedOut {
                limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            });
        }
        if self.next_signals.get().is_some_and(|next| now >= next) {
            self.next_signals.set(Some(now + SIGNALS));
            // The method alone has one lifetime only.
            #[allow(clippy::redundant_closure_for_method_calls)]
            let checked = Python::attach(|py| py.check_signals());
            if let Err(error) = checked {
                self.raised.replace(Some(error));
                return Err(Interruption::Stopped);
            }
        }
        Ok(())
    }
}
