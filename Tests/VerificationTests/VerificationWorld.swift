import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport

@testable import Verification

/// A simulated firmware and its verification over a wire, in simulated time.
///
/// Many tests expect the end of a run within 45 s of simulated time: docs/verify.md promises that for runs without
/// permissions.
final class VerificationWorld<Device: SimulatedDevice>: @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    let loop = SimulatedLoop()
    var device: MutantDevice<Device>
    private(set) var link: SimulatedLink!
    /// The text written to the device.
    private(set) var written: [String] = []
    /// Called with each write before it reaches the device; returns the text that does.
    var onWrite: (String) -> String? = { $0 }
    /// Whether the stimulus can act on the device, but observes nothing.
    var tellsNothing = false
    /// Called with each reported result.
    var onResult: (CheckResult) -> Void = { _ in }
    /// Called with the reason why a pump that should be off at the end may be running.
    var onUnsafe: (String) -> Void = { _ in }
    /// The running verification.
    private(set) var task: Task<Void, Never>?
    /// The device's lead over the loop's time.
    private var ahead: Duration
    private let carrier: WorldCarrier
    /// Output of the device's UART that the module has not sent yet.
    private var notified: [UInt8] = []
    /// The time at which the last packet to the module was written.
    private var airFree = Duration.zero

    /// - Parameters:
    ///   - age: The time for which the device has been running.
    ///   - carrier: The carrier of its bytes.
    init(_ device: Device, _ mutant: Mutant? = nil, age: Duration = .zero, over carrier: WorldCarrier = .line) {
        ahead = age
        self.carrier = carrier
        self.device = MutantDevice(device, mutant)
        loop.device = SimulatedLoop.Device(
            next: { [unowned self] in
                // The loop needs a time, also for a device without a next activity.
                self.device.nextActivity.map { $0 - ahead } ?? loop.now + .seconds(3600)
            },
            step: { [unowned self] in live(until: $0) })
        link = SimulatedLink(loop, keepsPacketBounds: carrier.keepsPacketBounds) { [unowned self] bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            written.append(text)
            if let text = onWrite(text) { carry(Array(text.utf8)) }
        } onEnd: {
        }
        self.device.hostCame(at: age)
    }

    /// Runs the device up to `instant`, and delivers its output, behind a module at the next connection event.
    private func live(until instant: Duration) {
        for emission in device.advance(to: instant + ahead) where link.isOpen {
            guard case .module(let interval) = carrier else {
                link.arrive(emission.bytes)
                continue
            }
            if notified.isEmpty { loop.at(carrier.nextEvent(behind: loop.now, interval)) { [self] in notify() } }
            notified += emission.bytes
        }
    }

    /// Delivers a write to the device, over a module in packets at connection events.
    private func carry(_ bytes: [UInt8]) {
        guard case .module(let interval) = carrier else { return device.receive(bytes, at: loop.now + ahead) }
        for (index, start) in stride(from: 0, to: bytes.count, by: WorldCarrier.packet).enumerated() {
            let packet = Array(bytes[start..<min(start + WorldCarrier.packet, bytes.count)])
            let written = max(loop.now, airFree) + (index == 0 ? .zero : .milliseconds(21))
            airFree = written
            loop.at(carrier.nextEvent(behind: written, interval)) { [self] in
                device.receive(packet, at: loop.now + ahead)
            }
        }
    }

    /// Delivers the output that waits in the module, in packets.
    private func notify() {
        defer { notified = [] }
        for start in stride(from: 0, to: notified.count, by: WorldCarrier.packet) {
            link.arrive(Array(notified[start..<min(start + WorldCarrier.packet, notified.count)]))
        }
    }

    // MARK: Actions

    /// Performs a verb on the device, like `sim ctl`, or another verb if that is the mutant's flaw.
    func perform(_ verb: String, _ arguments: [String]) throws {
        let asked = [verb] + arguments
        device.feel(asked.joined(separator: " "))
        let felt = device.isMutated ? device.mutant?.feels[asked.joined(separator: " ")] : nil
        let words = felt.map { $0.split(separator: " ").map(String.init) } ?? asked
        guard let verb = words.first else { return }
        let now = loop.now + ahead
        switch verb {
        case "advance":
            ahead += .seconds(Double(words[1].dropLast()) ?? 0)
            live(until: loop.now)
        case "reset": device.reset(at: now)
        case "fault": device.device.setOwnFault(words[1] == "none" ? nil : words[1], at: now)
        default:
            guard let row = Device.verbs.first(where: { $0.name == verb }) else { return }
            try row.perform(&device.device, try row.settings(Array(words.dropFirst())), now)
        }
    }

    // MARK: Running

    /// The verdict of a verification, or the error that prevented it.
    struct Outcome {
        var verdict: FirmwareVerdict?
        var error: (any Error)?
        var ending: SimulatedLoop.Ending
    }

    /// Verifies the firmware, by default with permission to run the device, and to send messages to a phone.
    ///
    /// - Parameters:
    ///   - checks: The checks to make; nil for all of the family.
    ///   - hasStimulus: Whether the verification can act on the device and observe it.
    ///   - change: Changes the options.
    ///   - onRun: Called before the pump is started.
    func verify(
        _ family: FamilyVerification, checks: [Check]? = nil, hasStimulus: Bool = true,
        _ change: (inout VerificationOptions) -> Void = { _ in }, onRun: @escaping @Sendable () -> Void = {}
    ) -> Outcome {
        var options = VerificationOptions()
        (options.mayRun, options.maySend, options.seed) = (true, family.family == "rescue", 7)
        change(&options)
        let checks = checks ?? family.checks
        let verification = Verification(
            family, over: link, checks: checks, clock: SimulatedClock(loop: loop), options: options,
            stimulus: hasStimulus
                ? Hands { [unowned self] in
                    try perform($0, $1)
                } look: { [unowned self] in
                    tellsNothing ? [:] : device.seen.mapValues(\.shown)
                } : nil, onRun: onRun, tellUnsafe: { [unowned self] in onUnsafe($0) })
        let box = Box()
        selectMutation(checks.first?.id)
        // Far longer than any run: the longest one repeats OFF for 30 minutes.
        box.ending = loop.run(limit: .seconds(40_000)) { [unowned self] in
            let task = Task(executorPreference: loop) {
                var count = 0
                do {
                    box.verdict = try await verification.run { result in
                        self.onResult(result)
                        count += 1
                        self.selectMutation(checks[count % checks.count].id)
                    }
                } catch { box.error = error }
            }
            self.task = task
            await task.value
        }
        return Outcome(verdict: box.verdict, error: box.error, ending: box.ending)
    }

    /// Enables a flaw that several checks would find only if `id` is the check for which the flaw is meant.
    private func selectMutation(_ id: String?) {
        guard let mutant = device.mutant, mutant.isShared else { return }
        device.isMutated = mutant.kills == id
    }

    private final class Box: @unchecked Sendable {
        // @unchecked: used on the loop's thread only.
        var verdict: FirmwareVerdict?
        var error: (any Error)?
        var ending = SimulatedLoop.Ending.done
    }
}

/// A stimulus that acts on a device in the same process.
private struct Hands: Stimulus, @unchecked Sendable {
    // @unchecked: called on the simulated loop's thread only.
    let body: (String, [String]) throws -> Void
    let look: () -> [String: String]

    func perform(_ verb: String, _ arguments: [String]) async throws { try body(verb, arguments) }

    func state() async throws -> [String: String] { look() }
}

extension ObservedValue {
    fileprivate var shown: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .boolean(let isSo): "\(isSo)"
        }
    }
}

/// The carrier of a device in a simulated world.
enum WorldCarrier {
    /// A serial line.
    case line
    /// BLE, with one message per packet.
    case packets
    /// An HM-10: packets of 20 bytes at connection events with this interval. The packets of one write of the host are
    /// 21 ms apart, the time that 20 bytes take on the module's UART at 9600 baud.
    case module(interval: Duration)

    static let packet = 20

    var keepsPacketBounds: Bool { if case .packets = self { true } else { false } }

    /// The time of the first connection event after `time`.
    func nextEvent(behind time: Duration, _ interval: Duration) -> Duration {
        interval * (Int((time / interval).rounded(.down)) + 1)
    }
}

extension PumpFirmware {
    /// A pump with a banner of several lines, and with constant temperatures.
    static var onBench: PumpFirmware {
        PumpFirmware(
            options: PumpFirmwareOptions(bootBanner: .banner, heat: .fixed(water: 12, skin: 34), potentiometer: 512))
    }
}

extension FirmwareVerdict {
    /// The IDs of the failed checks.
    var failures: [String] { results.filter(\.isFailure).map(\.id) }
    /// The IDs of the skipped checks.
    var skipped: [String] {
        results.filter { if case .skipped = $0.outcome { true } else { false } }.map(\.id)
    }
}
