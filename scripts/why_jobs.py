"""Parts of scripts/why-score: jobs with a throttle of known share, healthy transfers, and what watching costs.

A job of `--jobs` works in turns: it is held up for some milliseconds, hands a block to its socket, and goes on once all of the block is
sent (SIOCOUTQNSD is 0). It keeps the time of both, which is the truth: data wait in the socket exactly while it waits for that.
"""
import fcntl, hashlib, json, math, os, random, socket, statistics, struct, subprocess, sys, tempfile, threading, time, zlib

import lab_health

PORT = 5001
UNSENT = 0x894B
GROUPS = "/sys/fs/cgroup/cpu"


def job(words):
    """A throttled sender: host, kind=, hold= milliseconds, block= bytes, seconds=, truth= file, fifo=."""
    host, o = words[0], dict(word.split("=") for word in words[1:])
    stream = socket.socket()
    stream.setsockopt(socket.IPPROTO_TCP, 13, b"cubic")
    if "nodelay" in o:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(100):
        try:
            stream.connect((host, PORT))
            break
        except OSError:
            time.sleep(0.1)
    kind, hold, block = o["kind"], float(o["hold"]) / 1e3, int(o["block"])
    data, spent = os.urandom(block), {"held": 0.0, "network": 0.0, "waiting": 0.0}
    started, before = time.process_time(), throttled(o["group"]) if "group" in o else 0.0
    source = open(o["fifo"], "rb", buffering=0) if "fifo" in o else None
    other = helper(kind, hold, source) if kind in ("packer", "fetcher") else None
    for _ in range(int(o.get("threads", 0))):
        # Threads with nothing to do, as most programs have.
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    begin = time.time()
    while time.time() < begin + float(o["seconds"]):
        at, computed = time.monotonic(), time.process_time()
        if kind in ("pause", "reader"):
            time.sleep(hold if kind == "pause" else 0)
        elif kind == "disk":
            source.read(1)
        elif other:
            used = other()
        else:
            while time.process_time() < computed + hold:
                zlib.compress(data[:20_000])
        after = time.monotonic()
        if kind == "packer":
            spent["waiting"] += max(after - at - used, 0.0)
            spent["held"] += used
        elif kind in ("quota", "cipher"):
            spent["waiting"] += max(after - at - (time.process_time() - computed), 0.0)
            spent["held"] += time.process_time() - computed
        else:
            spent["held"] += after - at
        stream.sendall(data)
        while kind != "reader" and struct.unpack("i", fcntl.ioctl(stream, UNSENT, bytes(4)))[0]:
            time.sleep(0.0005)
        network = time.monotonic() - after
        if kind == "quota":
            # Held back, the job may learn late that its data are gone (tcpi_last_data_sent, milliseconds).
            late = struct.unpack_from("I", stream.getsockopt(socket.IPPROTO_TCP, 11, 64), 44)[0] / 1e3
            spent["waiting"] += min(late, network)
            network -= min(late, network)
        spent["network"] += network
    # The group is held back in turns alone, and before the first; what it counts while data wait is the network's.
    spent["throttled"] = before + min(throttled(o["group"]) - before, spent["waiting"]) if "group" in o else 0.0
    # What a job computes before its first turn is the processor's as well.
    if kind in ("quota", "cipher", "packer"):
        spent["held"] += started
    with open(o["truth"], "w") as file:
        json.dump(spent, file)


def throttled(group):
    """Seconds for which a control group was held back."""
    with open(f"{group}/cpu.stat") as file:
        return int(dict(line.split() for line in file)["throttled_time"]) / 1e9


def helper(kind, hold, source):
    """Another program of the same job, that computes or reads the slow disk when asked to; its call gives the processor time used."""
    ask, answer = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.close(ask[1])
        data = os.urandom(20_000)
        while os.read(ask[0], 1):
            begin = time.process_time()
            if kind == "fetcher":
                source.read(1)
            while kind == "packer" and time.process_time() < begin + hold:
                zlib.compress(data)
            os.write(answer[1], struct.pack("d", time.process_time() - begin))
        os._exit(0)
    os.close(ask[0])

    def call():
        os.write(ask[1], b"x")
        return struct.unpack("d", os.read(answer[0], 8))[0]

    return call


def feed(words):
    """A slow disk: a byte into a fifo each so many milliseconds after the last was taken; not one of the job's programs."""
    with open(words[0], "wb", buffering=0) as file:
        fcntl.fcntl(file, 1031, 4096)
        while True:
            time.sleep(float(words[1]) / 1e3)
            try:
                file.write(b"x")
            except BrokenPipeError:
                return


def jobs():
    """Name, kind, milliseconds held up, bytes of a block, path, bytes per second of the far reader."""
    for kind in ("disk", "cipher", "pause", "quota"):
        for hold in (60, 150, 400):
            for block in (60_000, 200_000):
                for delay in (5, 20):
                    yield f"{kind}-{hold}-{block // 1000}-{delay}", kind, hold, block, f"rate 20 Mbit/s, delay {delay} ms", 0
    for rate in (200_000, 400_000, 600_000, 800_000):
        for delay in (5, 10, 20):
            yield f"reader-{rate // 1000}-{delay}", "reader", 0, 65536, f"rate 100 Mbit/s, delay {delay} ms", rate


def drawn_jobs(seed, count=60):
    """The same drawn: holds from 3 ms on, one program or two, with threads that do nothing; bytes go out at once (TCP_NODELAY)."""
    kinds = ("disk", "fetcher", "cipher", "packer", "pause", "quota", "reader")
    for number in range(count):
        dice = random.Random(hashlib.sha256(f"{seed}/{number}".encode()).digest())
        kind = kinds[number % len(kinds)]
        hold = round(3 * (400 / 3) ** dice.random())
        block = round(20_000 * 15 ** dice.random())
        mbit_s, delay = round(5 * 10 ** dice.random()), dice.randint(2, 30)
        rate = round(100_000 * 8 ** dice.random()) if kind == "reader" else 0
        path = f"rate {100 if rate else mbit_s} Mbit/s, delay {delay} ms"
        yield f"{kind}-{number}", kind, 0 if rate else hold, 65536 if rate else block, path, rate, dice.choice((0, 0, 2, 8))


PARTS = {"disk": "source", "fetcher": "source", "cipher": "processor", "pause": "pause", "quota": "throttled", "reader": "receiver"}


def run_job(binary, me, case):
    name, kind, hold, block, path, rate, *more = case
    if kind == "quota" and not os.access(GROUPS + "/cgroup.procs", os.W_OK):
        return name, None, "skipped: no control group may be made here"
    folder = tempfile.mkdtemp(prefix="why-jobs-")
    truth, before, enter, group = f"{folder}/truth", "", "", f"{GROUPS}/why-{os.getpid()}-{name}"
    words = f"kind={kind} hold={hold} block={block} seconds=9 truth={truth}"
    if more:
        words += f" nodelay=1 threads={more[0]}"
    if kind in ("disk", "fetcher"):
        os.mkfifo(f"{folder}/fifo")
        words += f" fifo={folder}/fifo"
        before = f"python3 {me} feed {folder}/fifo {hold} & "
    if kind == "quota":
        # A fifth of a processor: of each 100 ms that are wanted, 20 are had.
        os.mkdir(group)
        for file, value in (("cpu.cfs_period_us", 100_000), ("cpu.cfs_quota_us", 20_000)):
            with open(f"{group}/{file}", "w") as out:
                out.write(str(value))
        words = words.replace(f"hold={hold}", f"hold={max(hold // 4, 25)}") + f" group={group}"
        enter = f"echo $$ > {group}/cgroup.procs; "
    run = f"{enter}exec python3 {me} job $SLOWPATH_FAR {words}"
    sink = f"exec python3 {me} sink " + (f"rate={rate} rcvbuf=65536 chunk=8192" if rate else "")
    near = f"sleep 1; {before}{binary} why --format json -- sh -c '{run}'; kill $! 2>/dev/null"
    done = subprocess.run([binary, "shell", path, "--far", sink, "--", "sh", "-c", near], capture_output=True, text=True, timeout=120)
    health = lab_health.health(done.stderr)
    try:
        answer = json.loads(done.stdout)["job"]
        with open(truth) as file:
            spent = json.load(file)
    except (ValueError, KeyError, OSError, TypeError) as error:
        return name, None, f"{error}: {done.stderr.strip()[-300:]}"
    finally:
        subprocess.run(["rm", "-rf", folder])
        if kind == "quota":
            try:
                os.rmdir(group)
            except OSError:
                pass
    # Both are shares of the time that was watched, of which the start of the program is a part that the truth leaves out.
    whole = answer["duration_s"]
    found = {entry["part"]: entry["time_s"] / whole for entry in answer["parts"]}
    if kind == "reader":
        # The far reader is slower than everything else all the time.
        right = {"receiver": sum(spent.values()) / whole, "network": 0.0}
    elif kind == "quota":
        # The group's own counter tells it from waiting for others.
        right = {"throttled": spent["throttled"] / whole, "processor": spent["held"] / whole, "network": spent["network"] / whole}
    elif kind in ("cipher", "packer"):
        # Others may have the processors meanwhile.
        right = {"processor": spent["held"] / whole, "processor-queue": spent["waiting"] / whole, "network": spent["network"] / whole}
    else:
        right = {PARTS[kind]: spent["held"] / whole, "network": spent["network"] / whole}
    worst = max(right, key=lambda part: abs(found.get(part, 0) - right[part]))
    text = ", ".join(f"{part} {found.get(part, 0):.0%} (truth {share:.0%})" for part, share in right.items())
    rest = {part: share for part, share in found.items() if part not in right and share >= 0.02}
    text += "".join(f", {part} {share:.0%}" for part, share in rest.items())
    return name, abs(found.get(worst, 0) - right[worst]), f"{text} | {health}"


def healthy(count):
    """Transfers over a link that is full and nothing else, as cases of why-score."""
    names = ("cubic", "reno", "bbr")
    number = 0
    for rate in (8, 15, 25, 40, 60):
        for delay in (5, 10, 20, 30, 40):
            for receives in (False, True):
                if number < count:
                    cc = names[number % 3]
                    yield (f"healthy-{rate}-{delay}-{cc}{'-down' if receives else ''}", ["bottleneck-bandwidth"],
                           f"rate {rate} Mbit/s, delay {delay} ms", f"cc={cc}", "", receives)
                number += 1


def cost(words):
    """Inside one path: blocks of a transfer with and without a watch beside, in turns; host, binary, pairs, seconds."""
    host, binary, pairs, seconds = words[0], words[1], int(words[2]), float(words[3])

    def block():
        stream = socket.socket()
        stream.setsockopt(socket.IPPROTO_TCP, 13, b"cubic")
        stream.connect((host, PORT))
        data, end = bytes(1 << 18), time.monotonic() + seconds
        begin, sent = time.monotonic(), 0
        while time.monotonic() < end:
            sent += stream.send(data)
        stream.shutdown(socket.SHUT_WR)
        stream.settimeout(30)
        stream.recv(1)
        return sent / (time.monotonic() - begin)

    ratios, shares, rates = [], [], []
    for pair in range(pairs):
        rate = {}
        for watched in (pair % 2 == 0, pair % 2 == 1):
            watch = None
            if watched:
                watch = subprocess.Popen([binary, "why", "--port", str(PORT), "--for", str(math.ceil(seconds) + 1), "--format", "json"],
                                         stdout=subprocess.PIPE, text=True)
                time.sleep(0.1)
            rate[watched] = block()
            if watch:
                paid = json.loads(watch.communicate()[0])
                shares.append(paid["cost"]["processor_s"] / paid["duration_s"])
        ratios.append(rate[True] / rate[False] - 1)
        rates.append(rate[False])
    mean, error = statistics.mean(ratios), statistics.stdev(ratios) / math.sqrt(pairs)
    wide = {6: 2.571, 8: 2.365, 10: 2.262, 12: 2.201, 16: 2.131, 20: 2.093}.get(pairs, 2.0) * error
    print(f"{pairs} pairs of {seconds:g} s, {statistics.mean(rates) * 8 / 1e6:.0f} Mbit/s without: goodput with the watch {mean:+.2%} "
          f"(95 %: {mean - wide:+.2%} to {mean + wide:+.2%}); the watch takes {statistics.mean(shares):.1%} of a processor", flush=True)


def drain(words):
    """Takes everything and says so at the end of each connection."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", PORT))
    listener.listen(5)
    while True:
        connection, _ = listener.accept()
        while connection.recv(1 << 18):
            pass
        connection.sendall(b"k")
        connection.close()


def run_cost(binary, me):
    for path in ("rate 50 Mbit/s, delay 10 ms", "rate 300 Mbit/s, delay 2 ms"):
        near = f"sleep 1; exec python3 {me} cost $SLOWPATH_FAR {binary} 10 3"
        done = subprocess.run([binary, "shell", path, "--far", f"exec python3 {me} drain", "--", "sh", "-c", near], capture_output=True,
                              text=True, timeout=300)
        print(f"{path}: {done.stdout.strip() or done.stderr.strip()[-300:]}", flush=True)
    # No path at all: the two programs take both processors, so that whatever the watch takes they lose.
    inner = f"ip link set lo up; python3 {me} drain & P=$!; sleep 1; python3 {me} cost 127.0.0.1 {binary} 20 2; kill $P"
    done = subprocess.run(["unshare", "-rn", "sh", "-c", inner], capture_output=True, text=True, timeout=300)
    print(f"loopback: {done.stdout.strip() or done.stderr.strip()[-300:]}", flush=True)
