public import DescriptorIO
public import SerialPort
internal import Glibc

/// A place where a simulated device is offered to other programs.
public enum ServingPlace: Sendable, Hashable {
    /// A pseudo-terminal. `link` is the path of a symbolic link to the pseudo-terminal; the link is removed at the end.
    case terminal(link: String? = nil)
    /// A socket: a TCP address, with port 0 for any free port, or a path. It serves one client at a time, or, if it
    /// broadcasts, any number of clients that share the line.
    case socket(SocketAddress, broadcasts: Bool = false)

    /// Whether the place is a pseudo-terminal.
    package var isTerminal: Bool { if case .terminal = self { true } else { false } }

    /// Returns the absolute form of a path, which means the same in every working directory.
    package static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard getcwd(&buffer, buffer.count) != nil else { return path }
        let folder = buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        return "\(folder)/\(path.hasPrefix("./") ? path.dropFirst(2) : path[...])"
    }
}

/// An event in the life of a device that is offered.
public enum ServingEvent: Sendable, Hashable {
    /// Clients can open the device at this path. The path contains a slash, so it can't be taken for a port's name.
    case onTerminal(path: String)
    /// Clients can open the device again, at this path, after a fault had pulled the cable.
    case isBack(path: String)
    /// The device could not come back after a fault had pulled the cable.
    case staysAway(SerialError)
    /// Clients can connect to the device at this address.
    case onSocket(SocketAddress)
    /// A client was disconnected because the line already has a client.
    case refusedClient
}

extension DeviceHost {
    /// Offers the device until the task is cancelled. The cancellation is not an error. If time passes on demand,
    /// returns at once.
    ///
    /// - Parameters:
    ///   - place: The place at which clients find the device.
    ///   - onEvent: Called with the address of the device, and with later events, on any thread.
    /// - Throws: The errors of ``PseudoTerminalServer/open(_:link:on:onReturn:onFailure:)`` or
    ///   ``SocketServer/open(_:at:broadcasts:on:onRefusal:)``.
    public nonisolated func serve(
        at place: ServingPlace, onEvent: @escaping @Sendable (ServingEvent) -> Void
    ) async throws {
        switch place {
        case .terminal(let link):
            let asPath: @Sendable (String) -> String = { path in path.contains("/") ? path : "./\(path)" }
            let server = try await PseudoTerminalServer.open(
                self, link: link, on: loop,
                onReturn: { path in
                    self.assumeIsolated { $0.port = ServingPlace.absolute(path) }
                    onEvent(.isBack(path: asPath(path)))
                }, onFailure: { onEvent(.staysAway($0)) })
            await setPort(ServingPlace.absolute(server.path))
            onEvent(.onTerminal(path: asPath(server.path)))
            try? await run()
            await server.close()
        case .socket(let address, let broadcasts):
            let server = try await SocketServer.open(self, at: address, broadcasts: broadcasts, on: loop) {
                onEvent(.refusedClient)
            }
            let place = address.replacingPort(server.port)
            await setPort("\(place)")
            onEvent(.onSocket(place))
            try? await run()
            await server.close()
        }
    }

    private func setPort(_ port: String) { self.port = port }

    /// Connects the device to a line inside this program, starts the device, and returns at once.
    ///
    /// The device runs until the caller closes the line. A fault that pulls the cable closes the line as well.
    ///
    /// - Returns: The caller's end of the line.
    public nonisolated func connect() async throws(DescriptorError) -> DescriptorChannel {
        let (far, near) = try DescriptorChannel.pair(on: loop)
        await onCarrierEvent { event in
            if event.action == .unplug { Task(executorPreference: near.loop) { await near.close() } }
        }
        let running = Task(executorPreference: loop) { try await self.run() }
        await attach(near) { running.cancel() }
        return far
    }
}

extension SocketAddress {
    /// Returns the same address with the port that the system chose, if the address has a port.
    fileprivate func replacingPort(_ taken: UInt16?) -> SocketAddress {
        guard case .tcp(let host, _) = self, let taken else { return self }
        return .tcp(host: host, port: taken)
    }
}
