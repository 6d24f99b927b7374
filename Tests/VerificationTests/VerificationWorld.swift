import FirmwareSim
import LineProtocol
import TestSupport

@testable import Verification

/// A firmware, simulated, and its verification over a wire, in simulated time.
final class VerificationWorld<Device: SimulatedDevice>: @unchecked Sendable {
    // @unchecked: it is touched on the simulated loop's thread only.

    let loop = SimulatedLoop()
    var device: MutantDevice<Device>
    private(set) var link: LossyLink!
    /// What was written to the device.
    private(set) var written: [String] = []
    /// Called with each write before the device hears it; what it returns is what gets there.
    var onWrite: (String) -> String? = { $0 }
    /// The verification that is under way.
    private(set) var task: Task<Void, Never>?
    /// By how much the device is ahead of the loop.
    private var ahead: Duration

    /// - Parameter age: For how long the device has lived.
    init(_ device: Device, _ mutant: Mutant? = nil, age: Duration = .zero) {
        ahead = age
        self.device = MutantDevice(device, mutant)
        loop.device = SimulatedLoop.Device(
            next: { [unowned self] in
                self.device.nextActivity.map { $0 - ahead } ?? loop.now + .seconds(3600)
            },
            step: { [unowned self] in live(until: $0) })
        link = LossyLink(loop) { [unowned self] bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            written.append(text)
            if let text = onWrite(text) { self.device.receive(Array(text.utf8), at: loop.now + ahead) }
        } onEnd: {
        }
    }

    private func live(until instant: Duration) {
        for emission in device.advance(to: instant + ahead) where link.isOpen { link.arrive(emission.bytes) }
    }

    // MARK: Hands

    /// Does what `sim ctl` does.
    func perform(_ verb: String, _ arguments: [String]) throws {
        let asked = ([verb] + arguments).joined(separator: " ")
        let felt = device.isMutated ? device.mutant?.feels[asked] ?? asked : asked
        let words = felt.split(separator: " ").map(String.init)
        guard let verb = words.first else { return }
        let now = loop.now + ahead
        switch verb {
        case "advance":
            ahead += .seconds(Double(words[1].dropLast()) ?? 0)
            live(until: loop.now)
        case "reset": device.reset(at: now)
        default:
            guard let row = Device.verbs.first(where: { $0.name == verb }) else { return }
            try row.perform(&device.device, try row.settings(Array(words.dropFirst())), now)
        }
    }

    // MARK: Running

    struct Outcome {
        var verdict: FirmwareVerdict?
        var error: (any Error)?
        var ending: SimulatedLoop.Ending
    }

    /// Verifies the firmware.
    ///
    /// - Parameter onResult: Called with each result.
    func verify(
        _ family: FamilyVerification, checks: [Check]? = nil, hasStimulus: Bool = true,
        _ change: (inout VerificationOptions) -> Void = { _ in }
    ) -> Outcome {
        var options = VerificationOptions()
        options.mayRun = true
        change(&options)
        let checks = checks ?? family.checks
        let verification = Verification(
            family, over: link, checks: checks, clock: SimulatedClock(loop: loop), options: options,
            stimulus: hasStimulus ? Hands { [unowned self] in try perform($0, $1) } : nil)
        let box = Box()
        selectMutation(checks.first?.id)
        box.ending = loop.run(limit: .seconds(40_000)) { [unowned self] in
            let task = Task(executorPreference: loop) {
                var count = 0
                do {
                    box.verdict = try await verification.run { _ in
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

    /// A flaw that several checks would find is there for one alone.
    private func selectMutation(_ id: String?) {
        guard let mutant = device.mutant, mutant.isShared else { return }
        device.isMutated = mutant.kills == id
    }

    private final class Box: @unchecked Sendable {
        // @unchecked: touched by the loop's thread only.
        var verdict: FirmwareVerdict?
        var error: (any Error)?
        var ending = SimulatedLoop.Ending.done
    }
}

/// What does something to a device in the same process.
private struct Hands: Stimulus, @unchecked Sendable {
    // @unchecked: called on the simulated loop's thread only.
    let body: (String, [String]) throws -> Void

    func perform(_ verb: String, _ arguments: [String]) async throws { try body(verb, arguments) }
}

extension PumpFirmware {
    /// A pump as it is in the field, with a banner, and temperatures that stay.
    static var onBench: PumpFirmware {
        PumpFirmware(
            options: PumpFirmwareOptions(bootBanner: .banner, heat: .fixed(water: 12, skin: 34), potentiometer: 512))
    }
}

extension FirmwareVerdict {
    /// The checks that have failed, and those that were skipped.
    var failures: [String] { results.filter(\.isFailure).map(\.id) }
    var skipped: [String] {
        results.filter { if case .skipped = $0.outcome { true } else { false } }.map(\.id)
    }
}
