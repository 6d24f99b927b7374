import DescriptorIO
import DeviceKit
import FirmwareSim
import Glibc
import LineProtocol
import SimControl
import Terminal

/// The work of `sim`: offers devices until a signal or `sim ctl` ends it, or the command of `--run` has ended.
struct DeviceServing: Sendable {
    let devices: [OfferedDevice]
    let options: ServingOptions
    let context: CommandContext
    /// The path of the control socket; nil if there is none.
    let control: String?

    init(_ devices: [OfferedDevice], _ options: ServingOptions, _ context: CommandContext) throws {
        (self.devices, self.options, self.context) = (devices, options, context)
        control = try options.controlPath()
    }

    /// Receives each device before it is offered.
    private typealias OnDevice = @Sendable (OfferedDevice, DeviceHandle) -> Void

    /// Serves until the end.
    ///
    /// - Returns: The exit status.
    func run() async throws -> Int32 {
        // Print the seed, with which random faults and steps can be repeated.
        for device in devices where isNamed(device) {
            let (faults, hasChance) = (device.settings.faults(), device.settings.steps().contains(where: \.isByChance))
            guard !faults.isEmpty || hasChance else { continue }
            let owner = options.tellsFamilies ? " of \(device.family)" : ""
            let what = [faults.isEmpty ? nil : "faults", hasChance ? "steps" : nil].compactMap(\.self)
            let seed = device.settings.seed()
            context.output.note("pumpctl: \(what.joined(separator: " and "))\(owner) by the seed \(seed)")
        }
        let judging = DeviceJudging()
        let result: Result<Int32, any Error>
        do {
            result = .success(
                try await controlling { tell in
                    let onDevice: OnDevice = { device, handle in
                        judging.add(handle, of: device)
                        report(failuresOf: handle, device)
                        tell(device, handle)
                    }
                    if options.runsCommand { return try await serveCommand(onDevice, judging) }
                    try await serve(onDevice)
                    return ExitStatus.done.rawValue
                })
        } catch {
            result = .failure(error)
        }
        guard await judging.conclude(options, context) else { return try result.get() }
        return try exitStatus(ofFailed: result)
    }

    /// Returns the exit status if a rule was broken or a step failed: 2, unless the command of `--run` could not be
    /// started. Throws an error of serving that is no cancellation.
    private func exitStatus(ofFailed result: Result<Int32, any Error>) throws -> Int32 {
        switch result {
        // 126 or 127, as in env(1): probably the command could not be started.
        case .success(let status) where options.runsCommand && (126...127).contains(status): return status
        case .failure(let error) where !(error is CancellationError): throw error
        case .success, .failure: return ExitStatus.checkFailed.rawValue
        }
    }

    private func report(failuresOf handle: DeviceHandle, _ device: OfferedDevice) {
        let name = options.tellsNumbers ? "device \(device.number): " : ""
        handle.onStepFailure { context.output.note($0.note(of: name)) }
    }

    /// Whether the device was requested on its own, and not only by `--count`.
    private func isNamed(_ device: OfferedDevice) -> Bool {
        device.number == 1 || device.number > options.count ?? 1
    }

    // MARK: Control

    /// Offers devices through `serve`, with a control socket if requested, until `serve` returns or a client of the
    /// socket requests the end.
    ///
    /// - Parameter serve: Offers the devices, passes each to `onDevice` before, and returns the exit status.
    /// - Returns: The exit status.
    private func controlling(
        _ serve: @escaping @Sendable (_ onDevice: @escaping OnDevice) async throws -> Int32
    ) async throws -> Int32 {
        guard let control else { return try await serve { _, _ in } }
        let server: SimulationServer
        do throws(DescriptorError) {
            server = try await SimulationServer.open(for: devices[0].family, at: control, on: context.loop)
        } catch {
            throw Failure(control: control, error)
        }
        return try await withCleanup({ await server.close() }) {
            try await withThrowingTaskGroup(of: Int32?.self) { group in
                group.addTask(executorPreference: context.loop) {
                    try await serve { device, handle in
                        server.assumeIsolated { $0.add(handle, number: device.number, family: device.family) }
                    }
                }
                group.addTask(executorPreference: context.loop) {
                    await server.untilStopped()
                    return nil
                }
                // The task that ends first also ends the other task.
                defer { group.cancelAll() }
                if let status = try await group.next() ?? nil { return status }
                guard options.runsCommand else { return ExitStatus.done.rawValue }
                // End the command of `--run`, whose exit status still counts.
                group.cancelAll()
                return (try await group.next() ?? nil) ?? ExitStatus.done.rawValue
            }
        }
    }

    // MARK: Serving

    /// Offers the devices until the task is cancelled. When all devices are ready for the first time, calls `onReady`.
    /// Without `onReady`, prints the places of the devices: of each when it is ready, or with `--wait` of all at once.
    private func serve(
        _ onDevice: @escaping OnDevice, onReady: (@Sendable ([ReadyDevice]) -> Void)? = nil
    ) async throws {
        let ready = ReadyDevices(of: devices.count)
        // With `--wait` one record describes all devices. With `--run` standard output belongs to the command.
        let tellOfOne: @Sendable (ReadyDevice) -> Void = { if onReady == nil, !options.waits { tellOf($0) } }
        let tell: @Sendable (ReadyDevice) -> Void = { device in
            tellOfOne(device)
            guard let all = ready.add(device) else { return }
            if let onReady { onReady(all) } else if options.waits { tellOf(all) }
            // With `--background` or `--wait`: let the process end that has started this one.
            ServingOptions.background.release()
        }
        if devices.count > 1 { DescriptorLimit.raise() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices {
                group.addTask(executorPreference: context.loop) {
                    try await device.serve(
                        context, onDevice: { onDevice(device, $0) }, onReady: tell, onRadio: tellOfOne,
                        onAway: { tellOf(device, away: $0) })
                }
            }
            // The first device that can't be served ends the others.
            for try await _ in group {}
        }
    }

    /// Prints the place of a device that is ready.
    private func tellOf(_ device: ReadyDevice) {
        let record = named(device.record, device.number, device.family)
        context.output.result((options.tellsFamilies ? "\(device.family) " : "") + device.text, record)
    }

    /// Prints the record of a device that did not come back after its cable was pulled. The text for people is a note
    /// that `ServingPlace.serve` prints.
    private func tellOf(_ device: OfferedDevice, away failure: Failure) {
        // With `--run`, standard output belongs to the command.
        if options.runsCommand { return }
        let record: ResultRecord = ["ok": false, "event": "interrupted", "error": failure.code]
        context.output.record(named(record, device.number, device.family))
    }

    /// Adds the device's number to a record with `--count` or `--with`, and its family with `--with`.
    private func named(_ record: ResultRecord, _ number: Int, _ family: String) -> ResultRecord {
        var record = record
        if options.tellsNumbers { record = ResultRecord(record, with: ["number": number]) }
        if options.tellsFamilies { record = ResultRecord(record, with: ["family": family]) }
        return record
    }

    /// Prints the record of `--wait`, when all devices are ready.
    private func tellOf(_ all: [ReadyDevice]) {
        context.output.record(
            all.record(control: control ?? "", seed: devices[0].settings.seed(), isList: options.tellsNumbers))
    }

    // MARK: --run

    /// Offers the devices while the command runs. Only the command writes to standard output.
    ///
    /// - Returns: The command's exit status.
    private func serveCommand(_ onDevice: @escaping OnDevice, _ judging: DeviceJudging) async throws -> Int32 {
        try await context.serving { onReady in
            try await serve(onDevice, onReady: onReady)
        } to: { (devices: [ReadyDevice]) in
            var variables = devices.variables
            variables["PUMPCTL_CONTROL"] = control.map(ServingPlace.absolute)
            let status = try await context.runServed(
                options.command, with: variables,
                hint: "give a program and its arguments after '--'; for a shell command: --run -- sh -c '…'")
            await judging.catchUp()
            return status
        }
    }
}

extension Failure {
    /// Creates the failure for a control socket that could not be opened.
    fileprivate init(control path: String, _ error: DescriptorError) {
        self.init(file: path, errno: error.errno ?? EIO)
        guard error.errno == EADDRINUSE else { return }
        (status, code, hint) = (.unavailable, "path_taken", "choose another path")
    }
}
