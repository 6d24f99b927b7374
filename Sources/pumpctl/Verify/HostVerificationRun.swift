import DeviceKit
import FirmwareSim
import LineProtocol
import PeripheralSim
import Synchronization
import Terminal
import Verification

/// A verification of a program, the host: plays the devices of a family, one after another, and tests the program that
/// uses them.
struct HostVerificationRun: Sendable {
    let verification: HostVerification
    let simulator: PeripheralSimulator
    /// Whether a check is selected, by its name in reports.
    let isChosen: @Sendable (String) -> Bool
    let options: HostOptions
    let context: CommandContext

    /// The default time limit of a program with one device.
    private static let patience = Duration.seconds(60)

    /// The results of running a program with one device.
    private struct Encounter {
        /// The judgement of the program's output, and the traffic.
        var verdict: Verdict?
        /// The exit status; nil without `--run`, or if a signal or the time limit ended the program.
        var status: Int32?
        /// Whether the time limit ended the program.
        var isLate = false
        /// The time from before the device was offered to the end of the program.
        var time: Duration
    }

    /// The devices with their selected checks.
    private var devices: [(device: PlayedDevice, checks: [HostCheck])] {
        // Without `--run`, a person tries an app with only one device.
        let devices = options.runsCommand ? verification.devices : Array(chosenDevices.prefix(1))
        return devices.map { device in
            (device, device.checks.filter { isChosen(verification.id(of: $0, with: device)) })
        }.filter { !$0.checks.isEmpty }
    }

    /// The devices with a selected check.
    private var chosenDevices: [PlayedDevice] {
        verification.devices.filter { device in
            device.checks.contains { isChosen(verification.id(of: $0, with: device)) }
        }
    }

    /// Plays the devices, and prints the report.
    ///
    /// - Returns: The exit status of pumpctl.
    func run(_ report: ReportPrinter) async throws -> ExitStatus {
        var verdict = FirmwareVerdict()
        let devices = devices
        report.begin(count: devices.reduce(0) { $0 + $1.checks.count })
        for (device, checks) in devices {
            for result in try await results(of: checks, with: device) {
                verdict.results.append(result)
                report.print(result)
            }
        }
        let isCutOff = Task.isCancelled && options.runsCommand
        report.end(verdict, isCutOff ? Abandonment(Failure(of: CancellationError())) : nil)
        return verdict.failedCount == 0 ? .done : .checkFailed
    }

    // MARK: Results

    private func results(of checks: [HostCheck], with device: PlayedDevice) async throws -> [CheckResult] {
        let settings: SimulatorSettings
        do throws(SimulatorOptionError) { settings = try self.settings(device, checks) } catch {
            return checks.map { result(of: $0, with: device, .skipped(reason: "cannot be tested over BLE")) }
        }
        // A signal ends the program, and the checks with further devices are skipped.
        guard !Task.isCancelled || !options.runsCommand else {
            return checks.map { result(of: $0, with: device, .skipped(reason: "interrupted")) }
        }
        let encounter = try await meet(device, settings)
        return checks.map { check in
            let (outcome, exchanges) = outcome(of: check, encounter)
            // The program's run time belongs to the check of its exit status only.
            let time = check.judgement == .exitStatus && options.runsCommand ? encounter.time : nil
            return result(of: check, with: device, outcome, exchanges, time)
        }
    }

    /// Returns the settings of a device, with the rules of the checks.
    ///
    /// - Throws: `SimulatorOptionError` if the device can't be played over BLE.
    private func settings(
        _ device: PlayedDevice, _ checks: [HostCheck]
    ) throws(SimulatorOptionError) -> SimulatorSettings {
        var given = device.options
        let rules = checks.filter { !isImpossible($0) }.flatMap(\.expectations)
        // The simulator keeps the traffic only if there is an expectation.
        given["expect"] = rules.isEmpty ? "commands" : rules.joined(separator: ",")
        return try simulator.line.settings(given, over: options.usesRadio ? .radio : .line)
    }

    /// Whether a check can't be made because the device is played over BLE, which has no baud rate.
    private func isImpossible(_ check: HostCheck) -> Bool { check.needsTerminal && options.usesRadio }

    private func result(
        of check: HostCheck, with device: PlayedDevice, _ outcome: CheckResult.Outcome,
        _ exchanges: [Verdict.Exchange] = [], _ time: Duration? = nil
    ) -> CheckResult {
        let steps = exchanges.map { exchange -> CheckResult.Step in
            switch exchange {
            case .heard(let bytes): .received(bytes)
            case .said(let bytes): .sent(bytes)
            }
        }
        return CheckResult(
            id: verification.id(of: check, with: device), rule: verification.rule(of: check), outcome: outcome,
            steps: steps,
            time: time)
    }

    /// Returns the outcome of a check, and the traffic to report: for a broken rule, the traffic until it was broken.
    private func outcome(
        of check: HostCheck, _ encounter: Encounter
    ) -> (CheckResult.Outcome, [Verdict.Exchange]) {
        let exchanges = encounter.verdict?.exchanges ?? []
        if isImpossible(check) { return (.skipped(reason: "cannot be tested over BLE"), []) }
        switch check.judgement {
        case .exitStatus: return (ending(encounter, check), exchanges)
        case .rule(let rule):
            guard let verdict = encounter.verdict else { return (.skipped(reason: "interrupted"), []) }
            if let finding = verdict.findings.first(where: { $0.expectation == rule }) {
                let got = "\(finding.moment): \(finding.detail)"
                return (.failed(expected: check.expectation, got: got), finding.exchanges)
            }
            if verdict.untested.contains(rule) { return (.skipped(reason: Self.untested), []) }
            return (.passed, exchanges)
        }
    }

    private static let untested = "the condition of this check did not occur"

    /// Returns the outcome of the check of the program's exit status.
    private func ending(_ encounter: Encounter, _ check: HostCheck) -> CheckResult.Outcome {
        guard options.runsCommand else { return .skipped(reason: "needs a command: --run -- COMMAND") }
        if encounter.isLate {
            return .failed(expected: check.expectation, got: "the program was ended at the time limit")
        }
        guard let status = encounter.status else { return .skipped(reason: "interrupted") }
        // A program that never reached the device has understood nothing, whatever its exit status.
        if encounter.verdict?.exchanges.isEmpty == true {
            return .failed(
                expected: "the program uses the device",
                got: "the program sent no complete command and received nothing; exit status \(status)")
        }
        if status != 0 { return .failed(expected: check.expectation, got: "exit status \(status)") }
        let isTested = check.premise.map { encounter.verdict?.untested.contains($0) == false } ?? true
        return isTested ? .passed : .skipped(reason: Self.untested)
    }

    // MARK: Encounters

    /// Offers a device until the program has ended, or, without a program, until a signal arrives.
    private func meet(_ device: PlayedDevice, _ settings: SimulatorSettings) async throws -> Encounter {
        let place: OfferedDevice.Place =
            options.usesRadio ? .radio(adapter: options.adapter) : .line(.terminal(link: options.link))
        let offered = OfferedDevice(number: 1, simulator: simulator, settings: settings, place: place)
        let handle = Mutex<DeviceHandle?>(nil)
        let begin = ContinuousClock.now
        return try await context.serving { onReady in
            try await offered.serve(
                context, onDevice: { new in handle.withLock { $0 = new } }, onReady: onReady, onRadio: { _ in },
                onAway: { _ in })
        } to: { (there: ReadyDevice) in
            var encounter = Encounter(time: .zero)
            if options.runsCommand {
                context.output.note("pumpctl: \(device.name): \(device.summary)")
                (encounter.status, encounter.isLate) = try await runCommand(with: there)
            } else {
                context.output.note(
                    "pumpctl: \(there.text)", hint: "use the device from your app; end the test with Ctrl-C")
                // Until a signal cancels the task.
                try? await context.clock.sleep(for: .seconds(1_000_000_000))
            }
            let device = handle.withLock(\.self)
            encounter.verdict = await device?.verdict()
            if options.runsCommand, await device?.observe()["state"] == .text("on") {
                context.output.note("pumpctl: the program ended and left the pump on")
            }
            encounter.time = ContinuousClock.now - begin
            return encounter
        }
    }

    /// Runs the command of `--run` with a device, within `--timeout`. At the limit or after a signal, the command is
    /// asked to end, and killed 5 s later.
    ///
    /// - Returns: The command's exit status, nil if a signal or the time limit ended the command; and whether the time
    ///   limit ended the command.
    private func runCommand(with device: ReadyDevice) async throws -> (Int32?, isLate: Bool) {
        let limit = context.options.timeout?.duration ?? Self.patience
        let program = Task(executorPreference: context.loop) {
            try await context.runServed(
                options.command, with: [device].variables, isQuiet: true, grace: .seconds(5),
                hint: "give a program and its arguments after '--'; for a shell command: --run -- sh -c '…'")
        }
        let isLate = Mutex(false)
        let timer = Task(executorPreference: context.loop) {
            try await context.clock.sleep(for: limit)
            isLate.withLock { $0 = true }
            program.cancel()
        }
        defer { timer.cancel() }
        let status = try await withTaskCancellationHandler {
            try await program.value
        } onCancel: {
            program.cancel()
        }
        let wasLate = isLate.withLock(\.self)
        return (Task.isCancelled || wasLate ? nil : status, wasLate)
    }
}

extension Verdict.Finding {
    /// The time of the finding, for people.
    fileprivate var moment: String {
        let milliseconds = time.components.attoseconds / 1_000_000_000_000_000
        return "at \(time.components.seconds).\("00\(milliseconds)".suffix(3)) s"
    }
}
