import ArgumentParser
import DeviceKit
import LineProtocol
import Verification

struct VerifyCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Test a firmware against the protocol.",
        discussion: """
            Tests the rules of docs/protocols.md, and reports those that the firmware breaks. A running pump is not tested. No pump \
            is started without --allow-run; a tested pump is switched off at the end. Actions by hand, such as pressing the button, \
            need --stimulus: the control socket of a simulator, an emulated board, or a test rig. Checks whose needs are not met \
            are skipped. Without --allow-send, nothing is sent to a rescue phone. Exits with 2 if a check failed.
            """,
        example: "pumpctl --port /dev/ttyUSB0 verify --report junit")

    @OptionGroup var shared: SharedOptions

    @Option(help: "The format of the results: \(VerifyReport.allCases.map(\.rawValue).joined(separator: ", ")).")
    var report: VerifyReport = .text

    @Flag(help: "List the checks and the options that they need, and test nothing.")
    var list = false

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Make only the checks whose names begin with this text.", valueName: "check"))
    var only: [String] = []

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Leave out the checks whose names begin with this text.", valueName: "check"))
    var except: [String] = []

    @Option(name: .customLong("repeat"), help: ArgumentHelp("Make all checks this many times.", valueName: "number"))
    var rounds = 1

    @Flag(name: .customLong("allow-run"), help: "Also run the pump. Make sure that nobody wears it.")
    var allowsRun = false

    @Flag(
        name: .customLong("allow-send"),
        help: "Send test messages to a rescue phone, which keeps them and passes them on.")
    var allowsSend = false

    @Option(
        help: ArgumentHelp("The control socket for actions by hand, such as pressing the button.", valueName: "path"))
    var stimulus: String?

    @OptionGroup var host: HostOptions

    func validate() throws {
        if host.playsDevice, rounds != 1 || allowsRun || allowsSend || stimulus != nil {
            throw ValidationError(
                "--as-device cannot be combined with --repeat, --allow-run, --allow-send and --stimulus")
        }
        guard (1...1000).contains(rounds) else { throw ValidationError("--repeat must be from 1 to 1000") }
        let options = shared
        if options.json, report != .text, report != .json {
            throw ValidationError("--json cannot be combined with --report \(report.rawValue)")
        }
    }

    func run() throws {
        let options = shared
        // Check this before a capture is created: otherwise an empty file would remain.
        if host.playsDevice { try checkPlaying(options) }
        try CommandRunner.runToStatus(options, endsBeforeSuspension: allowsRun) { try await perform(in: $0).rawValue }
    }

    private func perform(in context: CommandContext) async throws -> ExitStatus {
        if host.playsDevice { return try await testHost(in: context) }
        let family = try family(of: context)
        let checks = try checks(of: family)
        let report = context.output.isJSON ? .json : report
        if list {
            context.output.draw(checks.map(report.listing).joined())
            return .done
        }
        var options = VerificationOptions()
        (options.mayRun, options.maySend, options.rounds) = (allowsRun, allowsSend, rounds)
        options.remedies = Dictionary(uniqueKeysWithValues: Check.Need.allCases.map { ($0, $0.remedy) })
        if let timeout = context.options.timeout?.duration { options.timeout = timeout }
        let run = FirmwareVerification(
            family: family, checks: checks, options: options,
            stimulus: stimulus.map { SocketStimulus(path: $0, loop: context.loop) }, context: context)
        return try await printing(report.form(family.family, rounds: rounds), in: context) { try await run.run($0) }
    }

    /// Runs a verification with a report, which also covers a verification that fails to start.
    private func printing(
        _ report: any VerificationReport, in context: CommandContext,
        _ run: (ReportPrinter) async throws -> ExitStatus
    ) async throws -> ExitStatus {
        let printer = ReportPrinter(report, on: context.output)
        do { return try await run(printer) } catch {
            printer.abandon(Failure(of: error, context.family, at: context.place))
            throw error
        }
    }

    private func family(of context: CommandContext) throws(Failure) -> FamilyVerification {
        let family = context.family
        if let row = FamilyVerification.named(family.name) { return row }
        let known = FamilyVerification.all.map(\.family).joined(separator: ", ")
        throw Failure(
            .usage, code: "usage", "there are no checks for the family \(family)",
            hint: "test a device of another family: \(known)", outcome: "not_sent")
    }

    private func checks(of family: FamilyVerification) throws(Failure) -> [Check] {
        try checkChoice(family.checks.map(\.id), family.family)
        return family.checks.filter { isChosen($0.id) }
    }

    private func isChosen(_ id: String) -> Bool {
        (only.isEmpty || only.contains { id.hasPrefix($0) }) && !except.contains { id.hasPrefix($0) }
    }

    /// Rejects names that match no check, and a selection without checks.
    private func checkChoice(_ ids: [String], _ family: String) throws(Failure) {
        let list = "pumpctl --family \(family) verify\(host.playsDevice ? " --as-device" : "") --list"
        for prefix in only + except where !ids.contains(where: { $0.hasPrefix(prefix) }) {
            throw Failure(
                .usage, code: "usage", "no check of the family \(family) begins with '\(prefix)'",
                hint: "list the checks: \(list)", outcome: "not_sent")
        }
        guard !ids.contains(where: isChosen) else { return }
        throw Failure(
            .usage, code: "usage", "--except leaves out all checks",
            hint: "leave out fewer checks; list all: \(list)", outcome: "not_sent")
    }

    // MARK: --as-device

    /// Rejects options that have no meaning if pumpctl plays the device, and `--timeout` without a command to limit.
    private func checkPlaying(_ options: SharedOptions) throws(Failure) {
        if options.timeout != nil, !host.runsCommand, !list {
            throw Failure(
                .usage, code: "usage",
                "with --as-device, --timeout needs --run: it limits the run time of a command",
                hint: "omit --timeout, and end the test with Ctrl-C", outcome: "not_sent")
        }
        let given = [
            options.verbose ? "--verbose" : nil, options.capture.map { _ in "--capture" },
            options.record == true ? "--record" : nil, options.reset ? "--reset" : nil,
        ].compactMap(\.self)
        guard let option = given.first else { return }
        let shows = option == "--verbose" || option == "--capture"
        throw Failure(
            .usage, code: "usage", "\(option) cannot be combined with --as-device, which opens no device",
            hint: "omit \(option)" + (shows ? "; the report contains the sent and received lines: --report json" : ""),
            outcome: "not_sent")
    }

    /// Rejects a selection of several devices by `--only` without `--run`: a person tries an app with only one device.
    private func checkNumber(of devices: [PlayedDevice], _ family: String) throws(Failure) {
        guard !host.runsCommand, !only.isEmpty, devices.count > 1 else { return }
        let names = devices.map(\.name).joined(separator: ", ")
        throw Failure(
            .usage, code: "usage", "without --run, --only must select one device, but selects several: \(names)",
            hint:
                "choose one device: --only \(family).host.\(devices[0].name); or test a command with each: --run -- COMMAND",
            outcome: "not_sent")
    }

    /// Tests the program that uses a played device: the work of `--as-device`.
    private func testHost(in context: CommandContext) async throws -> ExitStatus {
        if let port = context.options.namedPort {
            throw Failure(
                .usage, code: "usage", "--as-device cannot be combined with the port \(port): pumpctl plays the device",
                hint: "omit the port, and name the family: pumpctl --family led verify --as-device", outcome: "not_sent"
            )
        }
        let family = context.family.name
        guard let verification = HostVerification.named(family),
            let row = SimCommand.simulator(of: family)
        else {
            throw Failure(
                .usage, code: "usage", "there are no checks for hosts of the family \(family)",
                hint: "test a host of another family: "
                    + HostVerification.all.map(\.family).joined(separator: ", "), outcome: "not_sent")
        }
        let rows = verification.devices.flatMap { device in
            device.checks.map { (verification.id(of: $0, with: device), verification.rule(of: $0)) }
        }
        try checkChoice(rows.map(\.0), family)
        let report = context.output.isJSON ? .json : report
        if list {
            for (id, rule) in rows where isChosen(id) { context.output.draw(report.listing(id, rule)) }
            return .done
        }
        let chosen = verification.devices.filter { device in
            device.checks.contains { isChosen(verification.id(of: $0, with: device)) }
        }
        try checkNumber(of: chosen, family)
        let run = HostVerificationRun(
            verification: verification, simulator: row, isChosen: { isChosen($0) }, options: host, context: context)
        return try await printing(report.form("\(family).host", rounds: 1, columns: .ofHost), in: context) {
            try await run.run($0)
        }
    }
}
