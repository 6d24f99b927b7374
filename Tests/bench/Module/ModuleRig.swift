import DeviceKit
import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport

/// A device on a serial line that a `ModuleSetup` opens at various baud rates, in simulated time. At a wrong rate each
/// side receives garbled bytes.
final class ModuleRig: @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    /// The time limit of an operation.
    private static let longest = Duration.seconds(300)

    /// An operation did not end.
    struct Hang: Error {}

    let loop = SimulatedLoop()
    var device: any SimulatedDevice
    /// The baud rates at which the line was opened, in order; 0 if it was opened without a rate.
    private(set) var opened: [Int] = []
    /// The text sent, before any garbling.
    private(set) var sent: [String] = []
    private(set) var reports: [ModuleSetup.Report] = []
    /// Whether the host can choose the line's baud rate; false as for a line behind a network server.
    var isSerial = true
    /// Whether the first opening of the line resets the device.
    var resets = false
    /// The rates at which the line can't be opened, because the adapter does not support them.
    var missingRates: Set<Int> = []
    private var link: ModuleWire?

    init(_ device: any SimulatedDevice) {
        self.device = device
        // A device without a next activity is looked at each second, because the loop needs a time.
        loop.device = SimulatedLoop.Device(
            next: { [unowned self] in self.device.nextActivity ?? loop.now + .seconds(1) },
            step: { [unowned self] in live(until: $0) })
    }

    var deviceRate: Int { (device as? SimulatedModule)?.baudRate ?? 9600 }

    private func live(until instant: Duration) {
        for emission in device.advance(to: instant) where emission.output == nil {
            guard let link else { continue }
            link.arrive(GarbledLine.received(emission.bytes, from: deviceRate, at: link.rate ?? deviceRate))
        }
    }

    private func open(_ rate: Int?) throws(LinkError) -> any Link {
        opened.append(rate ?? 0)
        if let rate, missingRates.contains(rate) { throw LinkError(.unsupported, name: "line", activity: "open") }
        if resets, opened.count == 1 { device.reset(at: loop.now) }
        let link = ModuleWire(loop, rate, mayHaveReset: resets && opened.count == 1) { [unowned self] bytes in
            sent.append(String(decoding: bytes, as: UTF8.self))
            device.receive(GarbledLine.received(bytes, from: rate ?? deviceRate, at: deviceRate), at: loop.now)
        }
        self.link = link
        return link
    }

    /// Runs an operation of a setup to its end in simulated time.
    ///
    /// - Parameter dialect: The dialect that the user has named; nil if it must be detected.
    /// - Throws: ``Hang`` if the operation does not end within five minutes.
    func perform(
        dialect: String? = nil,
        _ body: @escaping @Sendable (ModuleSetup) async throws(ModuleSetupError) -> ModuleInfo
    ) throws -> Result<ModuleInfo, ModuleSetupError> {
        // The rates, in their order, that `ModuleSetup.rates(of:)` returns if the endpoint names no rate.
        let rates: [Int?] =
            isSerial ? [9600, 115_200, 57600, 38400, 19200, 4800, 2400, 1200, 230_400] : [nil]
        let setup = ModuleSetup(
            dialect: dialect, rates: rates, clock: SimulatedClock(loop: loop),
            report: { [unowned self] in reports.append($0) },
            open: { [unowned self] rate throws(LinkError) in try open(rate) })
        let outcome = Outcome()
        let ending = loop.run(limit: loop.now + Self.longest) {
            do throws(ModuleSetupError) { outcome.result = .success(try await body(setup)) } catch {
                outcome.result = .failure(error)
            }
        }
        guard ending == .done, let result = outcome.result else { throw Hang() }
        return result
    }

    private final class Outcome: @unchecked Sendable {
        // @unchecked: used on the loop's thread only.
        var result: Result<ModuleInfo, ModuleSetupError>?
    }
}

/// The host's link at one baud rate. It accepts all writes immediately.
private final class ModuleWire: Link, @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    let name = "line"
    let keepsPacketBounds = false
    let mayHaveReset: Bool
    var maximumWriteLength: Int? { nil }
    let executor: any SerialExecutor & TaskExecutor
    /// The host's baud rate; nil if the host can't choose it.
    let rate: Int?

    private let take: ([UInt8]) -> Void
    private var arrived: [[UInt8]] = []
    private var reader: UnsafeContinuation<[UInt8]?, Never>?
    private var isClosed = false

    init(_ loop: SimulatedLoop, _ rate: Int?, mayHaveReset: Bool, take: @escaping ([UInt8]) -> Void) {
        executor = loop
        self.rate = rate
        self.mayHaveReset = mayHaveReset
        self.take = take
    }

    func arrive(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, !isClosed else { return }
        if let reader {
            self.reader = nil
            reader.resume(returning: bytes)
        } else {
            arrived.append(bytes)
        }
    }

    func send(_ bytes: [UInt8]) async throws(LinkError) { take(bytes) }

    func receive() async throws(LinkError) -> [UInt8]? {
        if !arrived.isEmpty { return arrived.removeFirst() }
        let bytes = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<[UInt8]?, Never>) in
                if Task.isCancelled { return continuation.resume(returning: nil) }
                reader = continuation
            }
        } onCancel: {
            reader?.resume(returning: nil)
            reader = nil
        }
        guard let bytes else { throw LinkError(.cancelled, name: name, activity: "receive") }
        return bytes
    }

    func receiveAvailable() async throws(LinkError) -> [UInt8] { arrived.isEmpty ? [] : arrived.removeFirst() }

    // Not called: a setup only receives.
    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {}

    func close() async { isClosed = true }
}
