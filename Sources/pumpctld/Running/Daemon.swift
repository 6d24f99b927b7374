import DescriptorIO
import DeviceKit
import Glibc
import LineProtocol
import Logging
import Sharing
import Synchronization
import Transports

/// Serves the devices of a configuration until it is cancelled.
final class Daemon: Sendable {
    private let configuration: DaemonConfiguration
    private let loop: EventLoop
    private let log: Logger
    private let manager: ServiceManager?
    private let shares: OpenShares
    /// Those of the devices that are there.
    private let present = Mutex(Set<String>())
    /// What no waiting mends.
    private let failures = AsyncStream.makeStream(of: DaemonFailure.self)

    /// A daemon that serves nothing yet.
    ///
    /// - Parameter manager: Told how it is; nil where nobody has to be.
    /// - Throws: Where the configuration names what this machine does not have.
    init(
        _ configuration: DaemonConfiguration, on loop: EventLoop, log: Logger, manager: ServiceManager?
    ) throws(DaemonFailure) {
        self.configuration = configuration
        self.loop = loop
        self.log = log
        self.manager = manager
        var group: ShareGroup?
        if let name = configuration.daemon.group { group = try ShareGroup(named: name) }
        shares = OpenShares(for: group, on: loop)
    }

    /// Serves until the task is cancelled. Links are closed then, and nothing is sent: a pump that runs runs on.
    ///
    /// - Throws: Why it can't serve.
    func run() async throws(DaemonFailure) {
        let served = configuration.devices.compactMap(serve)
        var server: SharingServer?
        do throws(DaemonFailure) {
            // Before any link: a daemon that can't start must not reset a board by opening its port.
            for served in served { try await shares.open(served.device) }
            server = try await openServer(of: served.map(\.device))
        } catch {
            await shares.close()
            throw error
        }
        let runs = served.map { served in Task(executorPreference: loop) { await served.device.run() } }
        let watchdog = Task(executorPreference: loop) { await self.sayAlive() }
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
        await server?.close()
        await shares.close()
        for run in runs { run.cancel() }
        for run in runs { await run.value }
        watchdog.cancel()
        for served in served { await served.recording.end("closed") }
        log.notice("ended")
        if let failure { throw failure }
    }

    /// Offers the devices by their names to programs, pumpctl among them; nil where there is no folder for the socket.
    private func openServer(of devices: [SharedDevice]) async throws(DaemonFailure) -> SharingServer? {
        let paths = configuration.daemon.socket.map { [$0] } ?? DaemonSocket.pathsOfOwn
        for path in paths {
            let server = SharingServer(devices, at: path, group: shares.group?.id, on: loop) { [log] event in
                log.log(LogEntry(SharingReport(device: "", event), of: .pump))
            }
            do throws(DescriptorError) { try await server.open() } catch {
                // To look before would not do: another daemon may start at this moment.
                if error.errno == EADDRINUSE, path != paths.last { continue }
                throw DaemonFailure(error, at: .unix(path: path))
            }
            warnOfFolder(of: path)
            return server
        }
        log.warning("there is no folder for a socket: pumpctl does not find the devices on its own")
        return nil
    }

    private func warnOfFolder(of path: String) {
        if let group = shares.group, !group.mayEnterFolder(of: path) {
            log.warning(
                "the group can't reach the socket: its users may not enter the folder",
                metadata: [
                    "socket": "\(path)",
                    "hint": "set 'socket' in [daemon], and PUMPCTLD_SOCKET, to one in a folder that they may enter",
                ])
        }
    }

    // MARK: Devices

    private struct Served: Sendable {
        let device: SharedDevice
        let recording: SharedRecording
    }

    /// A device whose link is not opened yet; nil where its family can't be shared, which the configuration excludes.
    private func serve(_ settings: SharedDeviceSettings) -> Served? {
        guard let row = SharedFamily.row(of: settings.family) else { return nil }
        let recording = SharedRecording(of: settings.family.name, on: loop)
        let opening = opening(settings, recording)
        let device = SharedDevice(settings, row, on: loop) { [failures] endpoint in
            do throws(LinkError) { return try await opening.link(to: endpoint, for: .transfer) } catch {
                if let failure = DaemonFailure(unmendable: error, of: settings.name) {
                    failures.continuation.yield(failure)
                }
                throw error
            }
        } tell: { [self] report in
            // Most lines are questions, and most daemons log none: those are not put in words.
            if log.logLevel <= .debug || !report.isQuestion(to: settings.family) {
                log.log(LogEntry(report, of: settings.family))
            }
            note(report)
            if case .notOfFamily(let line) = report.event, configuration.devices.count == 1 {
                failures.continuation.yield(DaemonFailure(settings, line))
            }
        }
        return Served(device: device, recording: recording)
    }

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
        // The pump's Nano has no boot ROM that says so.
        opening.looksForRestarts = settings.family != .pump && settings.family != .raw
        opening.recording = settings.isRecorded ? recording : nil
        // What another daemon has is not passed on a second time, and what this one has not to itself.
        opening.daemonSockets = { [] }
        return opening
    }

    // MARK: The service manager

    /// Notes which devices are there, for who asks the service manager.
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

    /// Tells the service manager which devices are there, with more.
    private func tellManager(_ notice: ServiceManager.Notice? = nil) {
        let present = present.withLock(\.self)
        let states = configuration.devices.map { "\($0.name) \(present.contains($0.name) ? "connected" : "waiting")" }
        let status = ServiceManager.Notice.status(states.joined(separator: ", "))
        if let notice { manager?.tell(notice, status) } else { manager?.tell(status) }
    }

    /// Tells the service manager, from the loop that all devices run on, that the loop still runs.
    private func sayAlive() async {
        guard let manager, let interval = manager.interval else { return }
        let clock = EventLoopClock(loop)
        repeat { manager.tell(.alive) } while (try? await clock.sleep(for: interval)) != nil
    }
}

extension DaemonFailure {
    /// The only device is not of the family that was assumed.
    fileprivate init(_ settings: SharedDeviceSettings, _ line: [UInt8]) {
        self.init(
            .usage,
            "no family is given, and \(settings.endpoint.text) does not answer as \(settings.family.device) does: "
                + line.printable(limit: 60),
            hint: "name its family; the lines of a device that is not known here pass as they are with --family raw")
    }

    /// A link can't be opened as it is configured; nil where that may change while the daemon runs.
    fileprivate init?(unmendable error: LinkError, of device: String) {
        guard error.code == .invalidEndpoint else { return nil }
        self.init(.usage, "device \(device): \(error)", hint: error.hint ?? "correct the endpoint")
    }
}
