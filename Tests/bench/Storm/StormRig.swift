import DeviceKit
import FirmwareSim
import LineProtocol
import PeripheralSim
import TestSupport
import Transports

/// A storm sensor under test on a bench. It measures only on demand.
protocol StormRig: Sendable {
    /// The sensor's endpoint.
    var endpoint: String { get }
    /// The environment that a program needs to find the sensor.
    var environment: [String: String] { get }
    /// Opens a link to the sensor.
    func link() async throws -> any Link
    /// Makes the sensor measure once; returns the row.
    func measure() async throws -> String
    /// Ends the sensor.
    func stop() async
}

extension StormRig {
    var environment: [String: String] { [:] }
    func link() async throws -> any Link { try await LinkSchemes.standard.open(Endpoint(endpoint)) }
}

/// The kind of storm sensor on the bench.
enum StormRigKind: String, CaseIterable, Sendable {
    /// The simulator in this process.
    case simulatorOnTerminal, simulatorOnTCP
    /// The simulator in this process, over BLE with a fake bluetoothd.
    case simulatorOnRadio
    /// Our firmware's core in its own program, on a pseudo-terminal.
    case firmware
    /// Our firmware's core, shared on TCP.
    case shared

    /// The log that a sensor of each kind stores if it is started with this number of rows.
    static func log(rows: Int) -> [UInt8] { StormLog(seed: 7).text(rows: 0..<rows) }

    /// Calls `body` with a sensor that stores `rows` rows, and stops the sensor afterwards.
    func run(rows: Int, _ body: (any StormRig) async throws -> Void) async throws {
        let rig: any StormRig =
            switch self {
            case .simulatorOnTerminal: try await SimulatedStormRig(rows: rows, on: .terminal)
            case .simulatorOnTCP: try await SimulatedStormRig(rows: rows, on: .tcp)
            case .simulatorOnRadio: try await RadioStormRig(rows: rows)
            case .firmware: try await FirmwareStormRig(rows: rows)
            case .shared: try await SharedStormRig(FirmwareStormRig(rows: rows))
            }
        do {
            try await body(rig)
        } catch {
            await rig.stop()
            throw error
        }
        await rig.stop()
    }
}

/// The simulator in this process, on a wire.
struct SimulatedStormRig: StormRig {
    private let device: ServedDevice<StormFirmware>
    var endpoint: String { device.endpoint }

    init(rows: Int, on place: ServedDevice<StormFirmware>.Place) async throws {
        device = try await ServedDevice(StormFirmware(options: .onBench(rows: rows)), on: place)
    }

    func measure() async -> String {
        let row = await device.host.change { storm, _ in storm.log.text(rows: storm.rowCount..<storm.rowCount + 1) }
        await device.host.advance(by: StormFirmwareOptions.interval)
        return String(decoding: row.dropLast(), as: UTF8.self)
    }

    func stop() async { await device.stop() }
}

/// The simulator in this process, over BLE with a fake bluetoothd.
struct RadioStormRig: StormRig {
    private let device: OfferedDevice<StormPeripheral>
    var endpoint: String { device.endpoint }
    var environment: [String: String] { device.environment }

    init(rows: Int) async throws {
        device = try await OfferedDevice(StormPeripheral(options: .onBench(rows: rows), pause: .zero))
    }

    func link() async throws -> any Link { try await device.link("storm") }

    func measure() async -> String {
        let row = await device.host.change { storm, _ in storm.log.text(rows: storm.rowCount..<storm.rowCount + 1) }
        await device.host.advance(by: StormFirmwareOptions.interval)
        return String(decoding: row.dropLast(), as: UTF8.self)
    }

    func stop() async { await device.stop() }
}

extension StormFirmwareOptions {
    /// The time between two measurements: far longer than a test's simulated time, so that the sensor measures only
    /// when ``StormRig/measure()`` adds this time.
    fileprivate static let interval = Duration.seconds(3600)

    fileprivate static func onBench(rows: Int) -> StormFirmwareOptions {
        StormFirmwareOptions(lineRate: .unlimited, seed: 7, rows: rows, interval: interval)
    }
}

/// Our firmware's core in the program `storm-sim`.
final class FirmwareStormRig: StormRig {
    /// The program did not reply with `ok`.
    struct Refused: Error { var answer: String }

    let endpoint: String
    private let process: ChildProcess
    private let folder = TemporaryFolder()

    init(rows: Int) async throws {
        let flash = folder.write(String(decoding: StormRigKind.log(rows: rows), as: UTF8.self), to: "log.txt")
        process = try await ChildProcess([SketchBuild.program("storm-sim"), flash])
        endpoint = String(try await process.output.line("storm-sim's pty").dropFirst("PTY ".count))
    }

    func measure() async throws -> String {
        try await process.write("measure 2 3 17 -4.25\n")
        let answer = try await process.output.line("storm-sim's answer")
        guard answer == "ok" else { throw Refused(answer: answer) }
        return "2 3 17 -4.25"
    }

    func stop() async {
        await process.closeInput()
        _ = try? await process.ending()
    }
}

/// The sensor of another rig, shared on TCP.
struct SharedStormRig: StormRig {
    private let rig: any StormRig
    private let share: DeviceShare
    var endpoint: String { share.endpoint }

    init(_ rig: any StormRig) async throws {
        self.rig = rig
        share = try await DeviceShare(.storm, by: .tcp) { try await rig.link() }
    }

    func measure() async throws -> String { try await rig.measure() }

    func stop() async {
        await share.close()
        await rig.stop()
    }
}
