internal import DescriptorIO
internal import LineProtocol
internal import Transports

extension LinkError {
    /// Creates the error for an endpoint `shared:NAME` that can't be opened. If no daemon knows the name, the hint
    /// lists the daemons' devices.
    init(
        _ error: DaemonError, opening endpoint: Endpoint, at sockets: [DaemonSocket], on loop: EventLoop
    ) async {
        self.init(error, name: endpoint.text)
        guard error.code == .noSuchDevice else { return }
        let known = await Daemons.now(at: sockets, on: loop).devices.map(\.sharedEndpoint).joined(separator: ", ")
        hint = known.isEmpty ? "add the device to pumpctld's configuration" : "use one of pumpctld's devices: \(known)"
    }

    /// Creates the error for an endpoint `shared:NAME` if several daemons have a device of that name.
    init(ambiguous endpoint: Endpoint, _ devices: [DaemonDevice]) {
        self.init(
            .ambiguous, name: endpoint.text, activity: "open",
            detail: "\(devices.map(\.endpoint).joined(separator: ", ")), each at another pumpctld",
            hint: "use the device's own endpoint, or give each device its own name in pumpctld's configuration")
    }

    /// Translates a daemon's failure for a user who named the device by its name in the daemon.
    init(_ error: DaemonError, name: String) {
        switch error.code {
        case .notRunning:
            let (variable, named) = (DaemonSocket.variable, DaemonSocket.named)
            let place = named.map { "listens at \($0.path) ($\(variable))" }
            self.init(
                .unavailable, name: name, activity: "open", detail: "no pumpctld \(place ?? "was found")",
                hint: named == nil
                    ? "start pumpctld, or use the device's own endpoint, e.g. /dev/ttyUSB0"
                    : "start pumpctld there, or use the standard sockets: unset \(variable)")
        case .notPermitted:
            self.init(
                .notPermitted, name: name, activity: "open", detail: "the socket of pumpctld",
                hint: error.socket?.permissionHint)
        case .noAnswer:
            if let daemon = error.stopped {
                // `busy` lets a caller that waits for the device wait on: the port still belongs to the stopped daemon.
                self.init(
                    .busy, name: name, activity: "open", hint: daemon.process.resumingHint, holder: daemon)
                return
            }
            self.init(
                .timedOut, name: name, activity: "open", detail: "pumpctld does not answer",
                hint: "check whether pumpctld is stopped, and restart it")
        case .noSuchDevice:
            self.init(.notFound, name: name, activity: "open", detail: "pumpctld has no device of that name")
        case .deviceAway:
            // The daemon's own hint is for programs that use its socket, so it is not shown.
            self.init(
                .notFound, name: name, activity: "open", detail: "pumpctld is waiting for the device",
                hint: "plug the device in, or switch it on")
        case .tooManyClients:
            self.init(
                .unavailable, name: name, activity: "open", detail: "pumpctld has too many clients", hint: error.hint)
        case .refused:
            self.init(
                .system, name: name, activity: "open", detail: error.message ?? "pumpctld refused the request",
                hint: error.hint)
        case .cancelled: self.init(.cancelled, name: name, activity: "open")
        }
    }

    /// Returns this error, which says that another program has the device, with another code, detail or hint if `error`
    /// explains more. `error` is the failure of the daemons that were asked for the device.
    func asking(_ error: DaemonError) -> LinkError {
        var explained = self
        switch error.code {
        case .notRunning:
            if let daemon = holder, daemon.isDaemon { explained.hint = Daemons.hint(onUnknownSocketOf: daemon.process) }
        case .noAnswer:
            if let daemon = error.stopped ?? holder, daemon.isDaemon, daemon.process.isStopped {
                explained.hint = daemon.process.resumingHint
            } else if holder?.isDaemon == true {
                explained.hint = "try again; if pumpctld still does not answer, restart it"
            }
        case .notPermitted:
            if holder?.isDaemon == true { explained.hint = error.socket?.permissionHint }
        case .noSuchDevice, .deviceAway:
            // A daemon that has just opened the port does not know the device's identity yet.
            guard error.code == .deviceAway || holder?.isDaemon == true else { break }
            explained.code = .unavailable
            explained.detail = "\(holder.map { "\($0)" } ?? "pumpctld") has the device open, but does not share it now"
            explained.hint = "try again in a moment: pumpctld may be opening the device"
        case .tooManyClients where holder?.isDaemon != true: break
        case .tooManyClients, .refused:
            explained.hint = ["pumpctld refused the request", error.message, error.hint].compactMap(\.self)
                .joined(separator: ": ")
        case .cancelled: explained = LinkError(.cancelled, name: name, activity: activity)
        }
        return explained
    }

    /// Whether a daemon has the device but does not share it now, perhaps because the daemon is still opening the
    /// device.
    var isNotReadyAtDaemon: Bool { code == .unavailable && deviceID != nil }
}
