import DescriptorIO
import Glibc
import LineProtocol
import SerialPort
import TestSupport
import Testing
@testable import Transports

/// Opens links of one carrier, each with its far end.
protocol LinkRig: Sendable {
    func open() async throws -> (link: any Link, far: FarEnd)

    /// Ends other programs that the rig runs: a process that exits lets nothing go by itself.
    func end()
}

extension LinkRig {
    func end() {}
}

/// What carries a link. Each stands for one rig.
enum Carrier: String, CaseIterable, Codable, Sendable {
    case pseudoTerminal, serialEndpoint, tcpIPv4, tcpIPv6, unixSocket, inProcess, ble

    /// Whether a far end's last words outlive it. The kernel empties a terminal that is hung up.
    var keepsLastWords: Bool { self != .pseudoTerminal && self != .serialEndpoint }

    /// Those that are a descriptor of this process.
    static var descriptors: [Carrier] { allCases.filter { $0 != .ble } }

    /// Those that let a sender wait until what it sent is received. A BLE device's notifications are kept here.
    static var holdingBack: [Carrier] { allCases.filter { $0 != .ble } }

    /// How often links are opened in a row. A BLE device is scanned for and connected each time.
    var openings: Int { self == .ble ? Seeds.amount(100, soak: 500) : Seeds.amount(1_000, soak: 10_000) }

    /// Those that say at once that the far end is gone, though nobody reads. TCP says so only to a reader.
    static var tellingOfHangUp: [Carrier] { descriptors.filter { $0 != .tcpIPv4 && $0 != .tcpIPv6 } }

    func rig() async throws -> any LinkRig {
        switch self {
        case .pseudoTerminal: return PseudoTerminalRig(query: nil)
        case .serialEndpoint: return PseudoTerminalRig(query: "baud=57600&dtr=off")
        case .tcpIPv4: return try await SocketRig(at: .tcp(host: "127.0.0.1", port: 0))
        case .tcpIPv6:
            guard hasIPv6 else { try Test.cancel("this machine has no ::1") }
            return try await SocketRig(at: .tcp(host: "::1", port: 0))
        case .unixSocket: return try await SocketRig(at: .unix(path: TemporaryPath.make("link.sock")))
        case .inProcess: return PairRig()
        case .ble: return try await BLERig()
        }
    }
}

private let hasIPv6: Bool = {
    let probe = socket(AF_INET6, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard probe >= 0 else { return false }
    defer { close(probe) }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(probe, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
        }
    }
}()

/// A new pseudo-terminal for each link.
struct PseudoTerminalRig: LinkRig {
    /// The options of a `serial:` endpoint; nil to open the bare path.
    let query: String?

    func open() async throws -> (link: any Link, far: FarEnd) {
        let terminal = try PseudoTerminal()
        let far = FarEnd(terminal.descriptor) { terminal.close() }
        return (try await open(terminal), far)
    }

    func open(_ terminal: PseudoTerminal) async throws -> any Link {
        let text = if let query { "serial:\(terminal.path)?\(query)" } else { terminal.path }
        return try await LinkSchemes.standard.open(Endpoint(text))
    }
}

/// A server that takes one connection for each link.
struct SocketRig: LinkRig {
    let listener: SocketListener
    let endpoint: String

    init(at address: SocketAddress) async throws {
        listener = try await SocketListener.listen(at: address)
        endpoint =
            switch address {
            case .tcp(let host, _): "tcp:\(host.contains(":") ? "[\(host)]" : host):\(listener.port ?? 0)"
            case .unix(let path): "unix:\(path)"
            }
    }

    func open() async throws -> (link: any Link, far: FarEnd) {
        let link = try await LinkSchemes.standard.open(Endpoint(endpoint))
        let channel = try #require(try await listener.accept())
        return try await joined(link, channel)
    }
}

/// Two ends in this process, as a simulated device has them.
struct PairRig: LinkRig {
    func open() async throws -> (link: any Link, far: FarEnd) {
        let (near, far) = try DescriptorChannel.pair()
        return try await joined(DescriptorLink(near, name: "sim:pair"), far)
    }
}

/// A link and its far end, taken out of its channel.
private func joined(_ link: any Link, _ channel: DescriptorChannel) async throws -> (link: any Link, far: FarEnd) {
    let near = try #require(link as? DescriptorLink).channel
    try await near.withDescriptor { limitBuffers($0) }
    try await channel.withDescriptor { limitBuffers($0) }
    let descriptor = try await channel.withDescriptor { fcntl($0, F_DUPFD_CLOEXEC, 0) }
    await channel.close()
    try #require(descriptor >= 0)
    return (link, FarEnd(descriptor) { close(descriptor) })
}

/// Keeps the kernel from holding megabytes, so that little is enough to fill a socket.
func limitBuffers(_ descriptor: CInt) {
    var size: CInt = 32 << 10
    for option in [SO_SNDBUF, SO_RCVBUF] {
        setsockopt(descriptor, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<CInt>.size))
    }
}
