internal import DescriptorIO
internal import Glibc
internal import LineProtocol

/// Opens links over stream sockets: serial servers with or without Telnet, simulators, and QEMU's character devices.
enum SocketLink {
    /// The time limit for connecting.
    static let connectTimeout = Duration.seconds(10)

    /// Opens `tcp:HOST:PORT`. An IPv6 address is in brackets.
    static func openTCP(_ endpoint: Endpoint, on loop: EventLoop) async throws(LinkError) -> any Link {
        try endpoint.allowOptions([])
        guard let colon = endpoint.address.lastIndex(of: ":"), colon != endpoint.address.startIndex,
            let port = UInt16(endpoint.address[endpoint.address.index(after: colon)...]), port > 0
        else {
            throw endpoint.invalid("write tcp:HOST:PORT, with a port from 1 to 65535")
        }
        let host = String(endpoint.address[..<colon])
        guard !host.hasPrefix("/") else {
            throw endpoint.invalid("write the address without slashes: tcp:\(endpoint.address.drop { $0 == "/" })")
        }
        return try await open(.tcp(host: host, port: port), endpoint, on: loop)
    }

    /// Opens `unix:PATH`.
    static func openUnix(_ endpoint: Endpoint, on loop: EventLoop) async throws(LinkError) -> any Link {
        try endpoint.allowOptions([])
        return try await open(.unix(path: endpoint.address), endpoint, on: loop)
    }

    private static func open(
        _ address: SocketAddress, _ endpoint: Endpoint, on loop: EventLoop
    ) async throws(LinkError) -> any Link {
        do {
            let channel = try await DescriptorChannel.connect(
                to: address, on: loop, deadline: .now.advanced(by: connectTimeout))
            return DescriptorLink(serverSocket: channel, name: endpoint.text)
        } catch {
            var linkError = LinkError(error, name: endpoint.text, activity: "connect", isSocket: true)
            linkError.hint = hint(error, address)
            throw linkError
        }
    }

    private static func hint(_ error: DescriptorError, _ address: SocketAddress) -> String? {
        if case .unknownHost(let code) = error.code {
            return code == EAI_AGAIN
                ? "check the network: no name server answers; or name the host by its address"
                : "check the host's name, or name the host by its address"
        }
        if error.errno == EACCES, case .unix(let path) = address {
            return "check who may write to the socket: ls -l \(path)"
        }
        return switch error.errno {
        case ECONNREFUSED: "start the server first: nothing listens there"
        case ENOENT: "start the server first: there is no such socket"
        case EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN, ETIMEDOUT:
            "check the network, and that the host is running"
        case ENAMETOOLONG: "choose a shorter path: the maximum is 107 bytes"
        case ENOTSOCK, EPROTOTYPE: "name another path: this is not a stream socket"
        case EAGAIN: "try again: too many programs are waiting to connect there"
        default: nil
        }
    }
}
