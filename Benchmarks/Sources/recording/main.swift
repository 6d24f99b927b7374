// What recording costs. recording PORT ROUNDTRIPS ROWS
//
// Prints telemetry rows a second, from the first to the last of ROWS being on the disk; then, of sessions that take turns
// with recording and without, the 99th percentile of a command's round trip: the median of the turns without, that of the
// turns with, and of the ratio of two turns that follow each other; and the time that it takes to hand a status over.
import DescriptorIO
import Glibc
import LineProtocol
import RecordFormat
import Recorder
import SerialPort
import Transports

let port = CommandLine.arguments[1]
let roundTrips = Int(CommandLine.arguments[2]) ?? 1000
let rowCount = Int(CommandLine.arguments[3]) ?? 500_000
let turns = 15

func nowMicroseconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) * 1e6 + Double(now.tv_nsec) * 1e-3
}

func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }

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

/// A recorder on a new database in the folder of the benchmarks, which is on a disk.
func newRecorder(_ name: String) -> Recorder {
    let path = ".build/recording/\(name).sqlite"
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    return Recorder(at: path) { report in
        print("recording: \(report)")
        exit(1)
    }
}

/// How many rows a second are on the disk, of so many that are recorded as fast as that goes.
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
        // As often as a sender would have to wait that must lose nothing.
        if row % 20_000 == 0 { try await recorder.flush() }
    }
    try await recorder.flush()
    let time = nowMicroseconds() - start
    let tally = await recorder.close()
    guard tally.lost == 0, tally.written >= rowCount else { exit(1) }
    return Double(rowCount) / time * 1e6
}

/// Asks for statuses, and records them if there is a recorder: the 99th percentile of the round trip, and how long it took
/// to hand a status over, in microseconds.
func ask(_ session: PumpSession, _ recorder: Recorder?) async throws -> (percentile: Double, handing: Double) {
    let number = recorder?.beginSession(family: "pump", endpoint: "benchmark", device: nil) ?? 0
    var times: [Double] = []
    times.reserveCapacity(roundTrips)
    var handing = 0.0
    for _ in 0..<roundTrips {
        let start = nowMicroseconds()
        let status = try await session.readStatus()
        let end = nowMicroseconds()
        times.append(end - start)
        guard let recorder else { continue }
        recorder.record(.reading(kind: "status", reading(of: status)), in: number)
        handing += nowMicroseconds() - end
    }
    times.sort()
    return (times[roundTrips * 99 / 100], handing / Double(roundTrips))
}

mkdir(".build/recording", 0o755)
let error: (any Error)? = EventLoop.run { loop in
    do {
        let rate = try await rowsPerSecond()
        let session = try await PumpSession.begin(
            over: LinkSchemes.standard.open(Endpoint(port), on: loop), clock: EventLoopClock(loop))
        let recorder = newRecorder("session")
        var without: [Double] = []
        var with: [Double] = []
        var handing: [Double] = []
        for _ in 0..<turns {
            without.append(try await ask(session, nil).percentile)
            let recorded = try await ask(session, recorder)
            with.append(recorded.percentile)
            handing.append(recorded.handing)
        }
        await session.close()
        guard await recorder.close().lost == 0 else { exit(1) }
        print(
            rate, median(without), median(with), median(zip(with, without).map { $0 / $1 }),
            median(handing))
        return nil
    } catch { return error }
}
if let error {
    print(error)
    exit(1)
}
