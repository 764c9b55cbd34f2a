//! Elements that vary or treat packets apart: from the document to the network.

use slowpath_path::{
    Action, CodeAction, ElementKind, JitterShape, Level, Meter, Queue, Rate, RateStep, Span, Trace,
};
use slowpath_scenario::{Clock, Experiment, Fragments, Plan, PlanOptions};
use slowpath_units::{BitRate, ByteCount, Duration, Ratio};

fn experiment(element: &str) -> Result<Experiment, String> {
    let text = format!(
        "title = \"t\"\n[network]\nup = []\ndown = [{element}]\n[workload]\nkind = \"ftp-get\"\nsize = \"1 MiB\"\n"
    );
    Experiment::read("t.toml", &text, &[]).map_err(|mistakes| mistakes.to_string())
}

fn plan(element: &str, fragments: &Fragments) -> Result<Plan, String> {
    let options = PlanOptions::first("default", 1, Clock::Simulated);
    experiment(element)?
        .plan(&options, fragments)
        .map_err(|error| error.to_string())
}

fn does(element: &str) -> ElementKind {
    let mut plan = plan(element, &Fragments::new()).unwrap();
    plan.network.elements.remove(0).does
}

fn rate_of(element: &str) -> Rate {
    match does(element) {
        ElementKind::Link(link) => link.rate,
        other => panic!("{other:?}"),
    }
}

const MBIT: u64 = 1_000_000;

#[test]
fn a_trace_is_part_of_the_plan_and_of_its_identity() {
    let element = "{ rate = { trace = \"lte.down\" }, queue = \"20 ms\", discipline = \"pie\" }";
    assert_eq!(experiment(element).unwrap().trace_files(), ["lte.down"]);
    let unread = plan(element, &Fragments::new()).unwrap_err();
    assert!(
        unread.contains("the recorded rate of this link was not read"),
        "{unread}"
    );
    let with = |text: &str| {
        let mut fragments = Fragments::new();
        fragments.insert_trace("lte.down".to_owned(), Trace::parse(text).unwrap());
        plan(element, &fragments).unwrap()
    };
    let first = with("1\n2\n");
    let ElementKind::Link(link) = &first.network.elements[0].does else {
        panic!()
    };
    assert_eq!(link.rate, Rate::Trace(Trace::parse("1\n2\n").unwrap()));
    // 1500 bytes a millisecond are 12 Mbit/s: 30,000 bytes in 20 ms.
    let Queue::Pie(pie) = &link.queue else { panic!() };
    assert_eq!(pie.limit, 30_000 / 1_514);
    assert_eq!(first.digest(), with("1\n2\n").digest());
    assert_ne!(first.digest(), with("1\n3\n").digest());
}

#[test]
fn rates_jump_by_chance_or_by_schedule() {
    let markov = rate_of(
        "{ rate = { markov = [{ rate = \"50 Mbit/s\", stay = \"2 s\" }, { rate = \"0 bit/s\", stay = \"500 ms\" }], slot = \"10 ms\" } }",
    );
    let Rate::Markov(markov) = markov else {
        panic!("{markov:?}")
    };
    let level = |mbit, ms| Level {
        rate: BitRate::new(mbit * MBIT),
        stay: Duration::from_millis(ms),
    };
    assert_eq!(markov.levels, [level(50, 2000), level(0, 500)]);
    assert_eq!(
        (markov.slot, markov.mean()),
        (Duration::from_millis(10), BitRate::new(40 * MBIT))
    );
    let step = |s, mbit| RateStep {
        from: Duration::from_secs(s),
        rate: BitRate::new(mbit * MBIT),
    };
    assert_eq!(
        rate_of(
            "{ rate = { steps = [{ from = \"0 s\", rate = \"50 Mbit/s\" }, { from = \"10 s\", rate = \"0 bit/s\" }, { from = \"12 s\", rate = \"20 Mbit/s\" }] } }"
        ),
        Rate::Steps(vec![step(0, 50), step(10, 0), step(12, 20)])
    );
}

#[test]
fn routers_tell_what_the_document_says() {
    let ElementKind::Router(router) = does("{ router = \"10.0.0.9\", answer_gap = \"1 s\" }") else {
        panic!()
    };
    assert_eq!(router.answer_gap, Some(Duration::from_secs(1)));
    let ElementKind::Mtu(mtu) = does("{ mtu = \"1400 B\", announced = \"1300 B\" }") else {
        panic!()
    };
    assert_eq!((mtu.mtu, mtu.announced), (1400, Some(1300)));
    let said = plan(
        "{ mtu = \"1400 B\", black_hole = true, announced = \"1300 B\" }",
        &Fragments::new(),
    )
    .unwrap_err();
    assert!(said.contains("told by nobody"), "{said}");
}

#[test]
fn delays_follow_schedules_and_three_kinds_of_jitter() {
    let delay = |element: &str| match does(element) {
        ElementKind::Delay(delay) => delay,
        other => panic!("{other:?}"),
    };
    let scheduled = delay(
        "{ delay = { steps = [{ from = \"0 s\", delay = \"50 ms\" }, { from = \"9 s\", delay = \"90 ms\" }] } }",
    );
    assert!(matches!(scheduled.delay, Span::Steps(steps) if steps.len() == 2));
    let ms = Duration::from_millis;
    for (jitter, shape) in [
        ("\"2 ms\"", JitterShape::Uniform { spread: ms(2) }),
        ("{ normal = \"1 ms\" }", JitterShape::Normal { deviation: ms(1) }),
        (
            "{ quantiles = [\"0 ms\", \"1 ms\", \"9 ms\"] }",
            JitterShape::Quantiles {
                extra: vec![ms(0), ms(1), ms(9)],
            },
        ),
    ] {
        let read = delay(&format!(
            "{{ delay = \"20 ms\", jitter = {jitter}, reorder = true }}"
        ));
        let read = read.jitter.unwrap();
        assert_eq!((read.shape, read.reorder), (shape, true));
    }
    let reorder = delay("{ reorder = \"1 %\", by = \"5 ms\" }").jitter.unwrap();
    assert_eq!(
        reorder.shape,
        JitterShape::Share {
            share: Ratio::from_ppb(10_000_000).unwrap(),
            extra: ms(5)
        }
    );
    assert!(reorder.reorder);
}

#[test]
fn policers_have_two_rates_and_codes_are_treated_apart() {
    let ElementKind::Police(police) = does(
        "{ police = \"10 Mbit/s\", burst = \"64 KiB\", peak = \"20 Mbit/s\", peak_burst = \"128 KiB\", exceed = \"cs1\" }",
    ) else {
        panic!()
    };
    assert_eq!(
        police.meter,
        Meter::TwoRate {
            cir: BitRate::new(10 * MBIT),
            cbs: ByteCount::new(65_536),
            pir: BitRate::new(20 * MBIT),
            pbs: ByteCount::new(131_072),
        }
    );
    assert_eq!(
        (police.exceed, police.violate),
        (Action::Mark("cs1".parse().unwrap()), Action::Drop)
    );
    let ElementKind::Treat(treat) = does(
        "{ treat = [{ codes = [\"cs1\", \"af21\"], drop = \"10 %\" }, { codes = [\"ef\"], police = \"1 Mbit/s\", burst = \"16 KiB\" }] }",
    ) else {
        panic!()
    };
    assert_eq!(treat.treatments.len(), 2);
    assert_eq!(treat.treatments[0].codes.len(), 2);
    assert!(matches!(treat.treatments[0].action, CodeAction::Drop(_)));
    assert!(matches!(treat.treatments[1].action, CodeAction::Police(_)));
}

#[test]
fn mistakes_say_what_to_write() {
    for (element, wanted) in [
        ("{ rate = { trase = \"x\" } }", "must take one of its forms"),
        (
            "{ rate = { trace = \"x\", markov = [] } }",
            "must take one of its forms",
        ),
        ("{ rate = { markov = [{ rate = \"1 Mbit/s\" }] } }", "stay"),
        ("{ delay = { steps = [{ from = \"0 s\" }] } }", "delay"),
        ("{ delay = \"9 ms\", jitter = { even = \"1 ms\" } }", "quantiles"),
        (
            "{ police = \"1 Mbit/s\", burst = \"64 KiB\", peak = \"2 Mbit/s\" }",
            "peak_burst",
        ),
        (
            "{ police = \"1 Mbit/s\", burst = \"64 KiB\", peak_burst = \"1 MiB\" }",
            "no effect without `peak`",
        ),
        ("{ treat = [{ drop = \"1 %\" }] }", "which code points are meant"),
        (
            "{ treat = [{ codes = [\"cs1\"] }] }",
            "what becomes of these codes",
        ),
        (
            "{ treat = [{ codes = [\"nonsense\"], drop = \"1 %\" }] }",
            "nonsense",
        ),
    ] {
        let shown = plan(element, &Fragments::new()).expect_err(element);
        assert!(shown.contains(wanted), "{element}: {shown}");
    }
    // What single values allow but not their combination is said when planning.
    let one = plan(
        "{ rate = { markov = [{ rate = \"1 Mbit/s\", stay = \"1 s\" }] } }",
        &Fragments::new(),
    );
    assert!(one.unwrap_err().contains("levels beside the first"));
    let late = plan(
        "{ rate = { steps = [{ from = \"1 s\", rate = \"1 Mbit/s\" }] } }",
        &Fragments::new(),
    );
    assert!(late.is_err());
}
