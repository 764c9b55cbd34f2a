"""The drawn list of `scripts/why-score --drawn SEED`: the causes that samples can show, with every program that can be made to have it.

The cells are fixed; rates, delays, queues, buckets and losses are drawn by the digest of the seed and the transfer's name. A transfer goes
up (the watched host sends), down (it receives) or is served (the watched host is the server of a client elsewhere that downloads, and
sends). Reordering is not among them: packets that overtake each other by up to half a round trip leave today's Linux its full link. What docs/guide/why.md says cannot be seen from that end is right as "unknown".
"""
import hashlib, random

UP, DOWN, SERVED = "up", "down", "served"
SENDERS = ("iperf3", "scp", "sftp", "curl", "rsync", "s3")
EACH = 3


def cells():
    """Cause, program, role, right answers."""
    for role in (UP, DOWN, SERVED):
        for program in SENDERS:
            if role == SERVED and program in ("iperf3", "s3"):
                continue
            yield "link", program, role, ["bottleneck-bandwidth"]
            yield "loss", program, role, ["unknown" if role == DOWN else "random-loss"]
            if role != DOWN:
                yield "police", program, role, ["policed"]
                # The web server's socket holds 1.4 MB in a send buffer of 32 KiB when it is served: not what limits it.
                if (program, role) != ("curl", SERVED):
                    yield "buffer", program, role, ["send-buffer"]
            if program in ("iperf3", "scp", "curl") or role == UP:
                yield "window", program, role, ["receiver-window"]
    for program in ("iperf3", "scp", "curl", "rsync"):
        yield "paced", program, UP, ["sender-application"]
    yield "paced", "iperf3", DOWN, ["unknown"]
    for program, role in (("curl", SERVED), ("curl", DOWN), ("ftp", DOWN)):
        yield "reader", program, role, ["receiver-application"]
    yield "link", "ftp", DOWN, ["bottleneck-bandwidth"]
    for cause in ("bbr", "reno", "shared", "ecn", "hole"):
        for program in ("iperf3", "curl")[: 1 if cause in ("bbr", "reno") else 2]:
            right = {"ecn": "ecn-congestion", "hole": "mtu-black-hole"}.get(cause, "bottleneck-bandwidth")
            yield cause, program, UP, [right]
    yield "protocol", "sftp", UP, ["protocol-window"]


def drawn(seed, each=EACH):
    """Name, right answers, path, program, role, cause, the drawn numbers."""
    for cause, program, role, right in cells():
        for number in range(each):
            name = f"{cause}-{program}-{role}-{number}"
            dice = random.Random(hashlib.sha256(f"{seed}/{name}".encode()).digest())
            delay = dice.randint(8, 50)
            rate = round(5 * 8 ** dice.random(), 1)
            numbers = {"delay": delay, "rate": rate, "size": 2 ** dice.randint(15, 17), "pace": round(2 * 4 ** dice.random(), 1)}
            wide = f"rate 150 Mbit/s, delay {delay} ms"
            queue = round(2 * delay * dice.uniform(0.5, 2))
            narrow = f"rate {rate} Mbit/s, queue {queue} ms"
            path = {
                "link": f"{narrow}, delay {delay} ms",
                "bbr": f"{narrow}, delay {delay} ms",
                "reno": f"{narrow}, delay {delay} ms",
                "shared": f"{narrow}, delay {delay} ms",
                "ecn": f"rate {rate} Mbit/s, discipline codel, ecn true, delay {delay} ms",
                "loss": f"{wide}, loss {round(0.1 * 10 ** dice.random(), 2)} %",
                "police": f"police {rate} Mbit/s, burst {2 ** dice.randint(5, 8)} KiB, {wide}",
                "hole": f"up: {wide}, mtu {dice.randint(600, 1300)} B, black_hole true; down: {wide}",
                "protocol": f"rate 150 Mbit/s, delay {max(delay, 10)} ms",
            }.get(cause, wide)
            yield name, right, path, program, role, cause, numbers


def settings(cause, role, numbers):
    """Settings of the kernel at the sending and at the receiving host."""
    size = numbers["size"]
    if cause == "window":
        return "", f"net.ipv4.tcp_rmem=4096 {min(size, 65536)} {min(size, 65536)}"
    if cause == "buffer":
        return f"net.ipv4.tcp_wmem=4096 {size} {size}", ""
    if cause == "ecn":
        return "net.ipv4.tcp_ecn=1", "net.ipv4.tcp_ecn=1"
    return "", ""


def commands(case, folder, binary, me, port):
    """What runs on the far host, and what on the near one: the server where it is, and the client."""
    name, _, _, program, role, cause, numbers = case
    far, near = "$SLOWPATH_FAR", "$SLOWPATH_NEAR"
    server_host = near if role == SERVED else far
    secure = f"-i {folder}/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
    fetch = role != UP
    pace = numbers["pace"] if cause in ("paced", "reader") else 0
    big, there = f"{folder}/big", f"root@{server_host}"
    limit = f" --limit-rate {round(pace * 125)}K" if pace else ""
    if program == "iperf3":
        control = f" -C {cause}" if cause in ("bbr", "reno") else ""
        server = f"iperf3 -s -1 -p {port} >&2"
        client = f"iperf3 -c {server_host} -p {port} -t 14{control}" + (" -R" if fetch else "") + (f" -b {pace}M" if pace else "")
    elif program in ("scp", "sftp", "rsync"):
        server = f"$(command -v sshd) -D -e -f {folder}/sshd_config"
        if program == "scp":
            ends = f"{there}:{big} /dev/null" if fetch else f"{big} {there}:/dev/null"
            client = f"scp {secure} -P {port}" + (f" -l {round(pace * 1000)}" if pace else "") + f" {ends}"
        elif program == "sftp":
            what = f"get {big} /dev/null" if fetch else f"put {big} /dev/null"
            small = " -R 1 -B 32768" if cause == "protocol" else ""
            client = f"echo {what} | sftp{small} {secure} -P {port} -b - {there}"
        else:
            target = f"{folder}/sunk-{name}"
            ends = f"{there}:{big} {target}" if fetch else f"{big} {there}:{target}"
            client = f"rsync -W --inplace -e 'ssh -p {port} {secure}'" + (f" --bwlimit {round(pace * 122)}" if pace else "") + f" {ends}"
    elif program == "s3":
        server = f"AWS_ACCESS_KEY_ID=slowpath AWS_SECRET_ACCESS_KEY=slowpath {binary} serve --address {server_host} --s3 {port} --s3-capacity 4GiB --sweep-port 0 >&2"
        client = f"python3 {me} s3 {'get' if fetch else 'put'} {server_host} {port}"
        if fetch:
            server = f"{server} & sleep 0.5; python3 {me} s3 store {server_host} {port}; wait"
    elif program == "ftp":
        server = f"{binary} serve --address {server_host} --ftp {port} --ftp-size 4GiB --sweep-port 0 >&2"
        client = f"curl -s{limit} -o /dev/null ftp://{server_host}:{port}/data"
    else:
        server = f"python3 {me} web {folder}"
        retry = "curl -sk --retry 9 --retry-connrefused --retry-delay 1 -o /dev/null"
        client = f"{retry}{limit} " + ("" if fetch else f"-H Expect: -T {big} ") + f"https://{server_host}:{port}/x"
    here, away = settings(cause, role, numbers)
    # `here` is the sending host's.
    near_set, far_set = (here, away) if role != DOWN else (away, here)
    beside = f"iperf3 -s -1 -p {port + 1} >&2 & " if cause == "shared" else ""
    far_command = (f"sysctl -qw '{far_set}'; " if far_set else "") + beside + (f"sleep 2; {client} >/dev/null" if role == SERVED else server)
    before = f"sysctl -qw '{near_set}'; " if near_set else ""
    if cause == "shared":
        before += f"sleep 1; iperf3 -u -c {far} -p {port + 1} -b {round(numbers['rate'] / 2, 1)}M -t 14 >/dev/null & "
    began = f"{before}{server} & P=$!; sleep 4.5" if role == SERVED else f"{before}sleep 2; {client} >/dev/null & P=$!; sleep 2.5"
    which = f"--to {far}" if program == "ftp" else f"--port {port}"
    return far_command, began, which
