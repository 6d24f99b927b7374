import DescriptorIO
import DeviceKit
import Glibc
import LineProtocol
import Logging
import RecordFormat
import Sharing
import Synchronization
import Transports

/// Serves the devices of a configuration until its task is cancelled.
final class Daemon: Sendable {
    private let configuration: DaemonConfiguration
    private let loop: EventLoop
    private let log: Logger
    private let manager: ServiceManager?
    private let shares: OpenShares
    /// The program that serves the page; nil for the installed one.
    private let pageProgram: CompanionProgram?
    /// The program that writes the record; nil for the installed one.
    private let recorder: CompanionProgram?
    /// The names of the connected devices.
    private let present = Mutex(Set<String>())
    /// Failures that waiting does not solve. The first one ends the daemon.
    private let failures = AsyncStream.makeStream(of: DaemonFailure.self)

    /// Creates a daemon, which serves nothing yet.
    ///
    /// - Parameters:
    ///   - loop: The loop on which all devices run.
    ///   - manager: The service manager to notify; nil for none.
    ///   - page: The program that serves the page; nil for the installed one.
    ///   - recorder: The program that writes the record; nil for the installed one.
    /// - Throws: ``DaemonFailure`` if the configured group does not exist.
    init(
        _ configuration: DaemonConfiguration, on loop: EventLoop, log: Logger, manager: ServiceManager?,
        page: CompanionProgram? = nil, recorder: CompanionProgram? = nil
    ) throws(DaemonFailure) {
        self.configuration = configuration
        self.loop = loop
        self.log = log
        self.manager = manager
        pageProgram = page
        self.recorder = recorder
        var group: ShareGroup?
        if let name = configuration.daemon.group { group = try ShareGroup(named: name) }
        shares = OpenShares(for: group, on: loop)
    }

    /// Serves until the task is cancelled, ends the page then, and closes the links. It sends nothing at the end: a
    /// running pump keeps running.
    ///
    /// - Throws: ``DaemonFailure`` if serving is not possible, or no longer.
    func run() async throws(DaemonFailure) {
        let served = configuration.devices.compactMap(serve)
        var server: SharingServer?
        do throws(DaemonFailure) {
            // Open the shares and the socket before any link: a daemon that can't start must not reset a board by
            // opening its port.
            for served in served { try await shares.open(served.device) }
            server = try await openServer(of: served.map(\.device))
        } catch {
            await shares.close()
            throw error
        }
        let runs = served.map { served in Task(executorPreference: loop) { await served.device.run() } }
        let watchdog = Task(executorPreference: loop) { await self.sayAlive() }
        let page = startPage(at: server?.path)
        tellManager(.ready)
        for settings in configuration.devices where !settings.shares.isEmpty {
            let shares = settings.shares.map { "\($0)" }.joined(separator: ", ")
            log.notice("sharing", metadata: ["device": "\(settings.name)", "at": "\(shares)"])
        }
        log.notice("serving", metadata: ["devices": "\(configuration.devices.map(\.name).joined(separator: ","))"])
        var failure: DaemonFailure?
        for await first in failures.stream {
            failure = first
            break
        }
        manager?.tell(.stopping)
        // End the page first: a pumpctl that the page has started then switches off the pump that it tests, through the
        // socket. A page that hangs is killed.
        page?.cancel()
        await page?.value
        await server?.close()
        await shares.close()
        for run in runs { run.cancel() }
        for run in runs { await run.value }
        watchdog.cancel()
        // End all recordings at the same time, so that a slow disk delays the end by 10 s at most.
        await withTaskGroup { group in
            for served in served { group.addTask { await served.recording.end("closed") } }
        }
        log.notice("ended")
        if let failure { throw failure }
    }

    /// Opens the control socket for programs, including pumpctl; returns nil if there is no folder for the socket.
    private func openServer(of devices: [SharedDevice]) async throws(DaemonFailure) -> SharingServer? {
        let paths = configuration.daemon.socket.map { [$0] } ?? DaemonSocket.pathsOfOwn
        for path in paths {
            let server = SharingServer(
                devices, at: path, group: shares.group?.id, on: loop, surroundings: .computer(on: loop)
            ) { [log] event in
                // The server reports only connections, whose entries depend on no family.
                log.log(LogEntry(SharingReport(device: "", event), of: .pump))
            }
            do throws(DescriptorError) { try await server.open() } catch {
                // Another daemon has the path: try the next one. A check beforehand would not suffice, since another
                // daemon may start at any moment.
                if error.errno == EADDRINUSE, path != paths.last { continue }
                throw DaemonFailure(error, at: .unix(path: path))
            }
            warnOfFolder(of: path)
            return server
        }
        log.warning("no folder for the socket was found: pumpctl can't find the devices automatically")
        return nil
    }

    /// Warns if the users of the group have no access to the folder of the control socket at `path`.
    private func warnOfFolder(of path: String) {
        if let group = shares.group, !group.mayEnterFolder(of: path) {
            log.warning(
                "the group can't reach the socket: its users have no permission to enter the folder",
                metadata: [
                    "socket": "\(path)",
                    "hint": "set 'socket' in [daemon], and PUMPCTLD_SOCKET, to one in a folder the group may enter",
                ])
        }
    }

    /// Starts the page for browsers, if it is configured. A page that can't be served is no failure of the daemon.
    ///
    /// - Parameter socket: The path of the control socket; nil if there is none.
    private func startPage(at socket: String?) -> Task<Void, Never>? {
        guard let http = configuration.http else { return nil }
        do throws(Trouble) {
            guard let socket else {
                throw Trouble(code: "no_place", text: "there is no control socket", hint: "set 'socket' in [daemon]")
            }
            let program = if let pageProgram { pageProgram } else { try CompanionProgram.installed("pumpctl-page") }
            log.notice("starting the page", metadata: ["at": "\(http.address)"])
            let page = PageProgram(program, http.arguments(for: socket), on: loop, log: log)
            return Task(executorPreference: loop) { await page.run() }
        } catch {
            log.log(LogEntry(notServed: error))
            return nil
        }
    }

    // MARK: Devices

    /// A device of the configuration, and its part of the record.
    private struct Served: Sendable {
        let device: SharedDevice
        let recording: SharedRecording
    }

    /// Creates a device, whose link is not opened yet; returns nil if its family can't be shared, which a valid
    /// configuration excludes.
    private func serve(_ settings: SharedDeviceSettings) -> Served? {
        guard let row = SharedFamily.row(of: settings.family) else { return nil }
        let recording = SharedRecording(of: settings.family.name, by: recorder, on: loop)
        let opening = opening(settings, recording)
        // The links are not opened `for: .watching`: other programs send OFF over a share or the control socket, and need
        // no second way.
        let device = SharedDevice(settings, row, on: loop) { [failures] endpoint in
            do throws(LinkError) { return try await opening.link(to: endpoint, for: .transfer) } catch {
                if let failure = DaemonFailure(unmendable: error, of: settings.name) {
                    failures.continuation.yield(failure)
                }
                throw error
            }
        } record: { entry in
            recording.record(entry)
        } tell: { [self] report in
            // Most lines are queries, which are logged at the level `debug` only: skip the work of wording them.
            if log.logLevel <= .debug || !report.isQuestion(to: settings.family) {
                log.log(LogEntry(report, of: settings.family))
            }
            note(report)
            // A daemon with other devices goes on for those. The log has the error.
            if case .notOfFamily(let line) = report.event, configuration.devices.count == 1 {
                failures.continuation.yield(DaemonFailure(settings, line))
            }
        }
        return Served(device: device, recording: recording)
    }

    /// Returns the settings with which the links of a device are opened.
    private func opening(_ settings: SharedDeviceSettings, _ recording: SharedRecording) -> LinkOpening {
        var opening = LinkOpening(of: settings.family, on: loop) { [log] name, report in
            log.log(LogEntry(report, of: name, device: settings.name))
        }
        opening.memory = { [log] in
            .user { error in
                log.debug("cannot store the address of this BLE name", metadata: ["reason": "\(error)"])
            }
        }
        opening.isTraced = configuration.daemon.logLevel == .trace
        // Only an ESP32 prints a message at a restart. A raw device may send the same text with another meaning.
        opening.looksForRestarts = settings.family != .pump && settings.family != .raw
        opening.recording = settings.isRecorded ? recording : nil
        // No daemon sockets: a device of another daemon is not shared a second time, and this daemon does not connect
        // to itself.
        opening.daemonSockets = { [] }
        return opening
    }

    // MARK: The service manager

    /// Records which devices are connected, for the status in the service manager.
    private func note(_ report: SharingReport) {
        let hasChanged = present.withLock { present in
            switch report.event {
            case .up: present.insert(report.device).inserted
            case .lost, .idle: present.remove(report.device) != nil
            default: false
            }
        }
        if hasChanged { tellManager() }
    }

    /// Notifies the service manager which devices are connected, and of `notice`.
    private func tellManager(_ notice: ServiceManager.Notice? = nil) {
        let present = present.withLock(\.self)
        let states = configuration.devices.map { "\($0.name) \(present.contains($0.name) ? "connected" : "waiting")" }
        let status = ServiceManager.Notice.status(states.joined(separator: ", "))
        if let notice { manager?.tell(notice, status) } else { manager?.tell(status) }
    }

    /// Notifies the service manager regularly, from the loop on which all devices run, that the loop still runs.
    private func sayAlive() async {
        guard let manager, let interval = manager.interval else { return }
        let clock = EventLoopClock(loop)
        repeat { manager.tell(.alive) } while (try? await clock.sleep(for: interval)) != nil
    }
}

extension DaemonFailure {
    /// Creates the failure of a daemon whose only device does not answer as one of the assumed family.
    fileprivate init(_ settings: SharedDeviceSettings, _ line: [UInt8]) {
        self.init(
            .usage,
            "no family is given, and \(settings.endpoint.text) does not answer as \(settings.family.device) does: "
                + line.printable(limit: 60),
            hint: "set the family; for an unknown device, set it to raw, which passes lines unchanged")
    }

    /// Creates the failure for an endpoint that can't be opened as configured; nil if the error may pass while the
    /// daemon runs, as when the device is plugged in.
    fileprivate init?(unmendable error: LinkError, of device: String) {
        guard error.code == .invalidEndpoint else { return nil }
        self.init(.usage, "device \(device): \(error)", hint: error.hint ?? "correct the endpoint")
    }
}
