import DescriptorIO
import Glibc
import LineProtocol
import SerialPort
import TestSupport
import Testing

@testable import Transports

@Suite("Opening endpoints", .timeLimit(.minutes(5)))
struct OpeningTests {
    private let folder = TemporaryFolder()

    /// Returns the error of an endpoint that can't be opened.
    private func failure(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> LinkError {
        do throws(LinkError) {
            try await LinkSchemes.standard.open(Endpoint(text)).close()
        } catch {
            #expect(!error.name.isEmpty)
            return error
        }
        try #require(Bool(false), "\(text) was opened", sourceLocation: sourceLocation)
        throw LinkError(.system, name: text, activity: "")
    }

    @Test("An unknown scheme is refused with the known ones")
    func unknownScheme() async throws {
        let error = try await failure("gopher:bench:70")
        #expect(error.code == .invalidEndpoint)
        for name in LinkSchemes.standard.names { #expect(error.hint?.contains("\(name):") == true) }
        #expect(LinkSchemes.standard.names == ["ble", "serial", "tcp", "unix", "usb"])
    }

    @Test("Schemes added to the table are opened")
    func ownScheme() async throws {
        var schemes = LinkSchemes.standard
        schemes.add("sim") { endpoint, loop throws(LinkError) in
            do throws(DescriptorError) {
                return DescriptorLink(try DescriptorChannel.pair(on: loop).0, name: endpoint.address)
            } catch {
                throw LinkError(error, name: endpoint.text, activity: "open")
            }
        }
        let link = try await schemes.open(Endpoint("sim:pump"))
        #expect(link.name == "pump")
        await link.close()
    }

    // MARK: Serial ports

    struct Setting: Sendable, CustomTestStringConvertible {
        var query: String
        var expected: SerialOptions
        var testDescription: String { query }
    }

    @Test(
        "Serial options of an endpoint are applied to the port",
        arguments: [
            Setting(query: "", expected: SerialOptions()),
            Setting(query: "?baud=115200", expected: SerialOptions(baudRate: 115_200)),
            Setting(query: "?baud=31250", expected: SerialOptions(baudRate: 31250)),
            Setting(query: "?stop=2", expected: SerialOptions(stopBits: .two)),
            Setting(query: "?flow=rtscts", expected: SerialOptions(flowControl: .rtsCts)),
            Setting(query: "?flow=xonxoff", expected: SerialOptions(flowControl: .xonXoff)),
            Setting(query: "?hupcl", expected: SerialOptions(hangUpOnClose: true)),
            Setting(
                query: "?dtr=on&rts=untouched&lowlatency&bits=8&parity=none&stop=1&flow=none", expected: SerialOptions()
            ),
        ])
    func serialOptions(setting: Setting) async throws {
        let terminal = try PseudoTerminal()
        let link = try await LinkSchemes.standard.open(Endpoint("serial:\(terminal.path)\(setting.query)"))
        #expect(try terminal.clientOptions() == setting.expected)
        await link.close()
    }

    /// A pseudo-terminal has 8 bits and no parity, so its refusal shows that the setting was requested.
    @Test(
        "A setting that the driver lacks is named",
        arguments: [("bits=7", "7 data bits"), ("parity=even", "parity even")])
    func refusedOptions(query: String, detail: String) async throws {
        let terminal = try PseudoTerminal()
        let error = try await failure("serial:\(terminal.path)?\(query)")
        #expect(error.code == .unsupported)
        #expect(error.detail?.contains(detail) == true)
    }

    @Test(
        "An invalid serial option is refused with a hint",
        arguments: [
            "baud=0", "baud=fast", "baud", "bits=9", "stop=3", "parity=some", "flow=hard", "dtr=1", "rts=", "hupcl=2",
            "shared=x", "lowlatency=no", "colour=red",
        ])
    func wrongSerialOptions(query: String) async throws {
        let terminal = try PseudoTerminal()
        let error = try await failure("serial:\(terminal.path)?\(query)")
        #expect(error.code == .invalidEndpoint)
        #expect(error.hint != nil)
    }

    @Test(
        "A path that is no serial port is reported as not found",
        arguments: ["/dev/no-such-port", "/dev", "/etc/hostname", "/dev/null", "serial:/dev"])
    func noPort(text: String) async throws {
        let error = try await failure(text)
        #expect(error.code == .notFound)
        #expect(error.name == text)
        #expect(error.hint != nil)
    }

    @Test("A busy port is refused with its holder, unless both openings are shared")
    func busy() async throws {
        let terminal = try PseudoTerminal()
        let first = try await LinkSchemes.standard.open(Endpoint(terminal.path))
        let error = try await failure(terminal.path)
        #expect(error.code == .busy)
        #expect(error.detail?.contains("(pid \(getpid()))") == true)
        #expect(error.hint != nil)
        #expect(error.holder?.processID == getpid())
        // 136 is the major device number of the first 256 pseudo-terminals.
        #expect(error.deviceID == "tty-136-" + (terminal.path.split(separator: "/").last ?? ""))
        await first.close()

        let shared = "serial:\(terminal.path)?shared"
        let second = try await LinkSchemes.standard.open(Endpoint(shared))
        let third = try await LinkSchemes.standard.open(Endpoint(shared))
        #expect(try await failure(terminal.path).code == .busy)
        await second.close()
        await third.close()
        try await LinkSchemes.standard.open(Endpoint(terminal.path)).close()
    }

    // MARK: Sockets

    @Test(
        "An invalid TCP address is refused with the right form",
        arguments: ["tcp:bench", "tcp::4000", "tcp:bench:0", "tcp:bench:65536", "tcp:bench:http"])
    func wrongAddress(text: String) async throws {
        let error = try await failure(text)
        #expect(error.code == .invalidEndpoint)
        #expect(error.hint?.contains("tcp:HOST:PORT") == true)
    }

    @Test("Socket endpoints take no options", arguments: ["tcp:localhost:1?baud=9600", "unix:/run/x?baud=9600"])
    func socketOptions(text: String) async throws {
        let error = try await failure(text)
        #expect(error.code == .invalidEndpoint)
        #expect(error.hint?.contains("no options") == true)
    }

    @Test("A TCP port without a server is reported as not found", arguments: ["127.0.0.1", "localhost"])
    func refused(host: String) async throws {
        let listener = try await SocketListener.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.port)
        await listener.close()
        let error = try await failure("tcp:\(host):\(port)")
        #expect(error.code == .notFound)
        #expect(error.activity == "connect")
        #expect(error.hint?.contains("start the server") == true)
    }

    @Test("An unknown host is reported as not found")
    func noHost() async throws {
        // RFC 6761 reserves `.invalid`. Without a resolver the look-up fails too.
        let error = try await failure("tcp:bench.invalid:4000")
        #expect(error.code == .notFound)
        #expect(error.hint != nil)
    }

    @Test("A path without a stream socket is reported as not found")
    func noSocket() async throws {
        let path = folder.path("none.sock")
        var error = try await failure("unix:\(path)")
        #expect(error.code == .notFound)
        #expect(error.hint?.contains("start the server") == true)

        for path in ["/etc/hostname", "/tmp"] {
            error = try await failure("unix:\(path)")
            #expect(error.code == .notFound)
            #expect(error.hint != nil)
        }
    }

    @Test("A datagram socket is reported as no stream socket")
    func datagramSocket() async throws {
        let path = folder.path("datagram.sock")
        let datagram = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(datagram); unlink(path) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(datagram, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        let error = try await failure("unix:\(path)")
        #expect(error.code == .notFound)
        #expect(error.hint?.contains("not a stream socket") == true)
    }

    @Test("A path too long for a socket is refused with the limit")
    func longPath() async throws {
        let error = try await failure("unix:/tmp/" + String(repeating: "x", count: 200))
        #expect(error.code == .invalidEndpoint)
        #expect(error.hint?.contains("107 bytes") == true)
    }

    @Test(
        "Each errno of connect maps to a code of a link error",
        arguments: [
            (ENOENT, LinkError.Code.notFound), (ECONNREFUSED, .notFound), (EHOSTUNREACH, .notFound),
            (ENETUNREACH, .notFound), (ENOTSOCK, .notFound), (EPROTOTYPE, .notFound), (ENAMETOOLONG, .invalidEndpoint),
            (EACCES, .notPermitted), (EPERM, .notPermitted), (ETIMEDOUT, .timedOut), (EIO, .disconnected),
            (EPIPE, .disconnected), (ECONNRESET, .disconnected), (EMFILE, .system),
        ])
    func errnos(errno: CInt, code: LinkError.Code) {
        let error = LinkError(
            DescriptorError(errno: errno, call: "connect"), name: "tcp:bench:4000", activity: "connect", isSocket: true)
        #expect(error.code == code)
        let text = code == .disconnected ? "the server closed the connection" : String(cString: strerror(errno))
        #expect(error.detail == text)
    }

    @Test(
        "An error on an open connection means that the connection was lost",
        arguments: [EHOSTUNREACH, ETIMEDOUT, ENETDOWN])
    func lostConnections(errno: CInt) {
        let error = LinkError(
            DescriptorError(errno: errno, call: "read"), name: "tcp:bench:4000", activity: "receive", isSocket: true)
        #expect(error.code == .disconnected)
        #expect(error.description == "tcp:bench:4000: the connection was lost: \(String(cString: strerror(errno)))")
    }

    @Test("A vanished serial device is reported without further detail")
    func gone() {
        let error = LinkError(DescriptorError(errno: EIO, call: "read"), name: "/dev/ttyUSB0", activity: "receive")
        #expect(error.description == "/dev/ttyUSB0: the device is gone")
    }

    @Test("A host name that cannot be resolved is reported", arguments: ["nosuchhost.invalid", "256.1.1.1"])
    func unknownHost(name: String) async throws {
        let error = try await failure("tcp:\(name):4000")
        #expect(error.code == .notFound)
        #expect(error.description.hasSuffix("the host name can't be resolved"))
        #expect(error.hint?.contains("name the host by its address") == true)
    }

    @Test("Slashes of a URL are refused with the right spelling")
    func slashes() async throws {
        let error = try await failure("tcp://bench:4000")
        #expect(error.code == .invalidEndpoint)
        #expect(error.hint == "write the address without slashes: tcp:bench:4000")
    }

    @Test("Invalid options are refused even if no such device is plugged in", arguments: ["baud=0", "colour=red"])
    func optionsOfMissingDevice(option: String) async throws {
        let error = try await failure("usb:1a86:7523?\(option)")
        #expect(error.code == .invalidEndpoint)
    }
}
