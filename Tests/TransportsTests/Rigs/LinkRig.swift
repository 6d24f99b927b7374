import DescriptorIO
import DeviceTestKit
import Glibc
import LineProtocol
import SerialPort
import TestSupport
import Testing
@testable import Transports

/// Opens links of one carrier, each with its far end.
protocol LinkRig: Sendable {
    func open() async throws -> (link: any Link, far: DescriptorFarEnd)

    /// Ends the other programs of the rig: a process that exits releases no objects.
    func end()
}

extension LinkRig {
    func end() {}
}

/// The carriers of links, each with its rig.
enum Carrier: String, CaseIterable, Codable, Sendable {
    case pseudoTerminal, serialEndpoint, tcpIPv4, tcpIPv6, unixSocket, inProcess, ble

    /// The abilities of the carrier's links. A terminal lacks one because the kernel discards its input after a
    /// hang-up, and BLE another one because notifications are buffered in this process.
    var abilities: LinkContract.Abilities {
        switch self {
        case .pseudoTerminal, .serialEndpoint: .all.subtracting(.keepsLastBytes)
        case .ble: .all.subtracting(.holdsFarEndBack)
        default: .all
        }
    }

    /// The carriers whose link is a descriptor of this process.
    static var descriptors: [Carrier] { allCases.filter { $0 != .ble } }

    /// The number of links opened in a row. For BLE each one needs a scan and a connection.
    var openings: Int { self == .ble ? Seeds.amount(100, soak: 500) : Seeds.amount(1_000, soak: 10_000) }

    /// The carriers that report a hang-up immediately, even if nobody reads. TCP reports it only to a reader.
    static var tellingOfHangUp: [Carrier] { descriptors.filter { $0 != .tcpIPv4 && $0 != .tcpIPv6 } }

    func rig() async throws -> any LinkRig {
        switch self {
        case .pseudoTerminal: return PseudoTerminalRig(query: nil)
        case .serialEndpoint: return PseudoTerminalRig(query: "baud=57600&dtr=off")
        case .tcpIPv4: return try await SocketRig(at: .tcp(host: "127.0.0.1", port: 0))
        case .tcpIPv6:
            guard hasIPv6 else { try Test.cancel("this machine has no ::1") }
            return try await SocketRig(at: .tcp(host: "::1", port: 0))
        case .unixSocket: return try await SocketRig()
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

    func open() async throws -> (link: any Link, far: DescriptorFarEnd) {
        let terminal = try PseudoTerminal()
        let far = DescriptorFarEnd(taking: terminal.descriptor) { terminal.close() }
        return (try await open(terminal), far)
    }

    func open(_ terminal: PseudoTerminal) async throws -> any Link {
        let text = if let query { "serial:\(terminal.path)?\(query)" } else { terminal.path }
        return try await LinkSchemes.standard.open(Endpoint(text))
    }
}

/// A server that accepts one connection for each link.
struct SocketRig: LinkRig {
    let listener: SocketListener
    let endpoint: String
    /// The folder of the Unix socket that ``init()`` creates; nil for any other address.
    private var folder: TemporaryFolder?

    init(at address: SocketAddress) async throws {
        listener = try await SocketListener.listen(at: address)
        endpoint =
            switch address {
            case .tcp(let host, _): "tcp:\(host.contains(":") ? "[\(host)]" : host):\(listener.port ?? 0)"
            case .unix(let path): "unix:\(path)"
            }
    }

    /// Creates a rig at a Unix socket.
    init() async throws {
        let folder = TemporaryFolder()
        try await self.init(at: .unix(path: folder.path("link.sock")))
        self.folder = folder
    }

    func open() async throws -> (link: any Link, far: DescriptorFarEnd) {
        let link = try await LinkSchemes.standard.open(Endpoint(endpoint))
        let channel = try #require(try await listener.accept())
        return try await joined(link, channel)
    }
}

/// Two connected ends in this process, as between a simulated device and its link.
struct PairRig: LinkRig {
    func open() async throws -> (link: any Link, far: DescriptorFarEnd) {
        let (near, far) = try DescriptorChannel.pair()
        return try await joined(DescriptorLink(near, name: "sim:pair"), far)
    }
}

/// Returns `link`, and a far end that takes over the descriptor of `channel`. Limits the kernel's buffers of both.
private func joined(_ link: any Link, _ channel: DescriptorChannel) async throws -> (
    link: any Link, far: DescriptorFarEnd
) {
    let near = try #require(link as? DescriptorLink).channel
    try await near.withDescriptor { limitBuffers($0) }
    try await channel.withDescriptor { limitBuffers($0) }
    let descriptor = try await channel.withDescriptor { fcntl($0, F_DUPFD_CLOEXEC, 0) }
    await channel.close()
    try #require(descriptor >= 0)
    return (link, DescriptorFarEnd(taking: descriptor))
}

/// Limits the kernel's buffers, so that little data fills a socket.
func limitBuffers(_ descriptor: CInt) {
    var size: CInt = 32 << 10
    for option in [SO_SNDBUF, SO_RCVBUF] {
        setsockopt(descriptor, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<CInt>.size))
    }
}
