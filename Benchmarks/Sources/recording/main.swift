// The cost of recording: recording PORT TURNS ROUNDTRIPS ROWS PUMPCTL-RECORD
//
// First measures the telemetry rows per second for ROWS rows, from the first record to the last one on the disk. Then
// one session with the pump at PORT takes turns of ROUNDTRIPS statuses: TURNS turns with a recorder in this process,
// as many with the program pumpctl-record as pumpctl uses it, and next to each of these one without recording.
//
// Prints the rows per second, and the median over the turns without recording of the 99th percentile of a round trip.
// Then prints for each of the two ways of recording the same median, the median ratio to the neighbouring turn without
// recording, and the median time needed to hand over a status. Times are in µs.
//
// A turn is much longer than a recorder's delay before it writes, and ends when everything is on the disk: so a turn
// also pays for its own writes. A turn sends bursts of commands as fast as the replies arrive, with a pause before each
// burst: the scheduler throttles a process that takes more than its fair share of a busy machine, which would hide
// every other effect. A turn records some thousand statuses per second.
import DescriptorIO
import Glibc
import LineProtocol
import RecordFormat
import Recorder
import SerialPort
import Transports

let port = CommandLine.arguments[1]
let turns = Int(CommandLine.arguments[2]) ?? 15
let roundTrips = Int(CommandLine.arguments[3]) ?? 20_000
let rowCount = Int(CommandLine.arguments[4]) ?? 500_000
let program = CommandLine.arguments[5]
/// The number of round trips without a pause.
let burst = 100
/// The pause before each burst.
let pause = Duration.milliseconds(15)

func nowMicroseconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) * 1e6 + Double(now.tv_nsec) * 1e-3
}

func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }

/// Converts a status to the form in which pumpctl records it.
func reading(of status: PumpStatus) -> Reading {
    var reading = Reading()
    reading.add("state", status.power.rawValue)
    if let percent = status.speedPercent { reading.add("speed_percent", Int(percent)) }
    if let water = status.temperatures.water { reading.add("water_temp_c", water.celsius) }
    if let skin = status.temperatures.skin { reading.add("skin_temp_c", skin.celsius) }
    if let minutes = status.runtimeMinutes { reading.add("runtime_min", Int(minutes)) }
    if let minutes = status.remainingMinutes { reading.add("remaining_min", Int(minutes)) }
    return reading
}

/// A recorder on a new database in the benchmarks' build folder, which is on a disk.
func newRecorder(_ name: String) -> Recorder {
    let path = ".build/recording/\(name).sqlite"
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    return Recorder(at: path) { report in
        print("recording: \(report)")
        exit(1)
    }
}

/// Returns the rows per second that reach the disk if rows are recorded as fast as possible.
func rowsPerSecond() async throws -> Double {
    let recorder = newRecorder("rows")
    let session = recorder.beginSession(family: "pump", endpoint: "benchmark", device: nil)
    var status = PumpStatus()
    status.power = .on
    status.speedPercent = 70
    status.temperatures = PumpTemperatures(
        water: ThermistorReading(celsius: 12), skin: ThermistorReading(celsius: 34.5))
    (status.runtimeMinutes, status.remainingMinutes) = (5, 25)
    let start = nowMicroseconds()
    for row in 1...rowCount {
        recorder.record(.reading(kind: "status", reading(of: status)), in: session)
        // Wait from time to time, like a sender that must lose no row: a recorder drops rows at its memory limit.
        if row % 20_000 == 0 { try await recorder.flush() }
    }
    try await recorder.flush()
    let time = nowMicroseconds() - start
    let tally = await recorder.close()
    guard tally.lost == 0, tally.written >= rowCount else { exit(1) }
    return Double(rowCount) / time * 1e6
}

/// A receiver of records.
protocol Taker {
    func record(_ reading: Reading)
    /// Waits until every record is on the disk.
    func flush() async throws
}

/// A recorder in this process.
struct OwnRecorder: Taker {
    let recorder = newRecorder("session")
    let session: UInt64

    init() { session = recorder.beginSession(family: "pump", endpoint: "benchmark", device: nil) }

    func record(_ reading: Reading) { recorder.record(.reading(kind: "status", reading), in: session) }
    func flush() async throws { try await recorder.flush() }
}

/// The program pumpctl-record, started in the same way as by pumpctl.
final class RecordProgram: Taker {
    private let socket: CInt
    private var pending: [UInt8] = []

    init() {
        unlink(".build/recording/pumpctl/record.sqlite")
        setenv("XDG_DATA_HOME", String(cString: realpath(".build/recording", nil)), 1)
        var ends: [CInt] = [-1, -1]
        socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        for stream in [STDIN_FILENO, STDOUT_FILENO] { posix_spawn_file_actions_adddup2(&actions, ends[1], stream) }
        var process: pid_t = 0
        let words = [strdup(program), strdup("write"), nil]
        guard posix_spawn(&process, program, &actions, nil, words, environ) == 0 else { exit(1) }
        close(ends[1])
        socket = ends[0]
        say(Record(session: 1, time: .now, .begun(family: "pump", endpoint: "benchmark", device: nil)).line)
    }

    func record(_ reading: Reading) { say(Record(session: 1, time: .now, .reading(kind: "status", reading)).line) }

    func flush() async throws {
        say(MessageRequest.commit.line)
        while !pending.isEmpty { send(0) }
        var answer = [UInt8](repeating: 0, count: 4096)
        let count = read(socket, &answer, answer.count)
        guard count > 0,
            Answer(line: String(decoding: answer[..<(count - 1)], as: UTF8.self)[...]) == .committed(isNew: [])
        else { exit(1) }
    }

    /// Sends a line as pumpctl does: never blocks, and keeps the unsent part in `pending`.
    private func say(_ line: String) {
        pending += line.utf8
        pending.append(UInt8(ascii: "\n"))
        send(CInt(MSG_DONTWAIT))
    }

    private func send(_ flags: CInt) {
        let count = Glibc.send(socket, pending, pending.count, flags)
        if count > 0 { pending.removeFirst(count) }
    }
}

/// Runs a turn: asks for statuses, and hands them to `taker`, if there is one. Returns the 99th percentile of the round
/// trip and the mean time to hand over a status, both in microseconds.
func ask(
    _ session: PumpSession, _ clock: EventLoopClock, _ taker: (any Taker)?
) async throws -> (percentile: Double, handing: Double) {
    var times: [Double] = []
    times.reserveCapacity(roundTrips)
    var handing = 0.0
    for trip in 0..<roundTrips {
        if trip % burst == 0 { try await clock.sleep(for: pause) }
        let start = nowMicroseconds()
        let status = try await session.readStatus()
        let end = nowMicroseconds()
        times.append(end - start)
        guard let taker else { continue }
        taker.record(reading(of: status))
        handing += nowMicroseconds() - end
    }
    try await taker?.flush()
    times.sort()
    return (times[roundTrips * 99 / 100], handing / Double(roundTrips))
}

mkdir(".build/recording", 0o755)
let error: (any Error)? = EventLoop.run { loop in
    do {
        let rate = try await rowsPerSecond()
        let clock = EventLoopClock(loop)
        let session = try await PumpSession.begin(
            over: LinkSchemes.standard.open(Endpoint(port), on: loop), clock: clock)
        let takers: [any Taker] = [OwnRecorder(), RecordProgram()]
        var without: [Double] = []
        var with: [[(percentile: Double, handing: Double)]] = [[], []]
        _ = try await ask(session, clock, nil)
        for turn in 0..<turns {
            // Each pass of the outer loop gives both takers a turn, in alternating order. In two passes the turn
            // without recording comes before a taker's turn, and in the next two after it.
            for index in turn % 2 == 0 ? [0, 1] : [1, 0] {
                if turn % 4 < 2 { without.append(try await ask(session, clock, nil).percentile) }
                with[index].append(try await ask(session, clock, takers[index]))
                if turn % 4 >= 2 { without.append(try await ask(session, clock, nil).percentile) }
            }
        }
        await session.close()
        var figures = [rate, median(without)]
        for (index, with) in with.enumerated() {
            let ratios = with.enumerated().map { turn, figure in
                figure.percentile / without[turn * 2 + (turn % 2 == 0 ? index : 1 - index)]
            }
            figures += [median(with.map(\.percentile)), median(ratios), median(with.map(\.handing))]
        }
        print(figures.map { "\($0)" }.joined(separator: " "))
        return nil
    } catch { return error }
}
if let error {
    print(error)
    exit(1)
}
