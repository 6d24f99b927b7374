import Glibc
import TestSupport
import Testing

@testable import DescriptorIO

@Suite("Sockets", .timeLimit(.minutes(5)))
struct SocketTests {
    enum Family: CaseIterable { case tcp, unix }

    private let folder = TemporaryFolder()
    /// The path of a future socket.
    private var path: String { folder.path("socket") }

    private func address(_ family: Family) -> SocketAddress {
        switch family {
        case .tcp: .tcp(host: "127.0.0.1", port: 0)
        case .unix: .unix(path: path)
        }
    }

    /// The address for clients of a listener: that of the listener, with the port that the kernel has chosen.
    private func address(of listener: SocketListener, at address: SocketAddress) -> SocketAddress {
        if let port = listener.port { .tcp(host: "127.0.0.1", port: port) } else { address }
    }

    @Test(arguments: Family.allCases)
    func `A listener accepts one connection after another`(family: Family) async throws {
        let address = address(family)
        let listener = try await SocketListener.listen(at: address)
        for number: UInt8 in 0..<10 {
            let client = try await DescriptorChannel.connect(
                to: self.address(of: listener, at: address), deadline: .now + .seconds(60))
            let server = try #require(try await listener.accept())
            try await client.write([number])
            #expect(try await server.read() == [number])
            await client.close()
            await server.close()
        }
        await listener.close()
    }

    @Test(arguments: Family.allCases)
    func `A hundred clients can connect before one is accepted`(family: Family) async throws {
        let address = address(family)
        let listener = try await SocketListener.listen(at: address)
        var clients: [DescriptorChannel] = []
        for _ in 0..<100 {
            clients.append(
                try await DescriptorChannel.connect(
                    to: self.address(of: listener, at: address), deadline: .now + .seconds(60)))
        }
        for client in clients { await client.close() }
        await listener.close()
    }

    @Test(arguments: ["cafe", "3f1c2b9a7d0e", "bench", "10"])
    func `A host is looked up as an address first, then by name`(host: String) {
        #expect(SocketAddress.lookUps(of: host) == [AI_NUMERICHOST, AI_ADDRCONFIG])
    }

    @Test(arguments: ["[::1]", "fe80::1"])
    func `An address with a colon is not looked up by name`(host: String) {
        #expect(SocketAddress.lookUps(of: host) == [AI_NUMERICHOST])
    }

    @Test func `Connecting to a full Unix socket is retried until the deadline`() async throws {
        let listener = try DescriptorChannel.makeSocket(family: AF_UNIX)
        defer { close(listener) }
        let address = try #require(try await SocketAddress.unix(path: path).resolve(toListen: true).first)
        #expect(address.withAddress { bind(listener, $0, $1) } == 0)
        #expect(listen(listener, 0) == 0)
        let first = try await DescriptorChannel.connect(to: .unix(path: path), deadline: .now + .seconds(60))
        let error = await #expect(throws: DescriptorError.self) {
            try await DescriptorChannel.connect(to: .unix(path: path), deadline: .now)
        }
        #expect(error?.errno == EAGAIN && error?.code == .system)
        async let second = DescriptorChannel.connect(to: .unix(path: path), deadline: .now + .seconds(60))
        // A few turns of the loop, in which the second attempt probably begins. The test also passes without them.
        for _ in 0..<10 { await Task(executorPreference: first.loop) {}.value }
        let accepted = accept(listener, nil, nil)
        #expect(accepted >= 0)
        await (try await second).close()
        close(accepted)
        await first.close()
    }

    @Test(arguments: Family.allCases)
    func `Closing a listener ends a pending accept`(family: Family) async throws {
        let address = address(family)
        for number in 0..<20 {
            let listener = try await SocketListener.listen(at: address)
            async let isEnd = listener.accept() == nil
            if number % 2 == 0 { for _ in 0..<10 { await Task(executorPreference: listener.loop) {}.value } }
            await listener.close()
            await listener.close()
            #expect(try await isEnd)
            #expect(try await listener.accept() == nil)
        }
    }

    @Test(arguments: Family.allCases)
    func `A cancelled accept leaves the listener open`(family: Family) async throws {
        let address = address(family)
        let listener = try await SocketListener.listen(at: address)
        let accepting = Task { try await listener.accept() == nil }
        for _ in 0..<10 { await Task(executorPreference: listener.loop) {}.value }
        accepting.cancel()
        let error = await #expect(throws: DescriptorError.self) { try await accepting.value }
        #expect(error?.code == .cancelled)
        let client = try await DescriptorChannel.connect(
            to: self.address(of: listener, at: address), deadline: .now + .seconds(60))
        let server = try #require(try await listener.accept())
        await client.close()
        await server.close()
        await listener.close()
    }

    @Test func `Closing a listener removes its path, and connecting then fails`() async throws {
        let listener = try await SocketListener.listen(at: .unix(path: path))
        #expect(access(path, F_OK) == 0)
        await listener.close()
        #expect(access(path, F_OK) != 0)
        let error = await #expect(throws: DescriptorError.self) {
            try await DescriptorChannel.connect(to: .unix(path: path), deadline: .now + .seconds(60))
        }
        #expect(error?.errno == ENOENT)
    }

    @Test func `Listening on a path in use or too long fails`() async throws {
        let listener = try await SocketListener.listen(at: .unix(path: path))
        var error = await #expect(throws: DescriptorError.self) {
            try await SocketListener.listen(at: .unix(path: path))
        }
        #expect(error?.errno == EADDRINUSE)
        // The existing listener is not disturbed.
        #expect(access(path, F_OK) == 0)
        await listener.close()
        // 108 bytes: with its NUL the path does not fit into `sun_path`, which has 108.
        let long = "/tmp/" + String(repeating: "x", count: 103)
        error = await #expect(throws: DescriptorError.self) { try await SocketListener.listen(at: .unix(path: long)) }
        #expect(error?.errno == ENAMETOOLONG)
    }

    @Test func `A stale socket is removed, but not a new one in its place`() async throws {
        /// Leaves a stale socket at the path, as a program that has ended does.
        func leave() throws {
            let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            defer { Glibc.close(descriptor) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let result = withUnsafeBytes(of: &address) {
                bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
            }
            try #require(result == 0)
        }
        try leave()
        let first = try #require(SocketFile(at: path))
        unlink(path)
        try leave()
        first.remove()
        #expect(SocketFile(at: path) != nil)
        await SocketListener.removeStale(.unix(path: path), on: .shared)
        #expect(SocketFile(at: path) == nil)
    }

    @Test func `Connecting to a port without a listener is refused`() async throws {
        let listener = try await SocketListener.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.port)
        await listener.close()
        let error = await #expect(throws: DescriptorError.self) {
            try await DescriptorChannel.connect(to: .tcp(host: "localhost", port: port), deadline: .now + .seconds(60))
        }
        #expect(error?.errno == ECONNREFUSED)
    }

    @Test func `Closing a listener closes its descriptor, with or without a pending accept`() async throws {
        await #expect(processExitsWith: .success) {
            // Counts sockets only, because the runtime opens its own descriptors at any time.
            func count() -> Int { (0..<256).count { target(of: $0)?.hasPrefix("socket:") == true } }
            let before = count()
            for number in 0..<200 {
                let listener = try await SocketListener.listen(at: .tcp(host: "127.0.0.1", port: 0))
                let accepting = Task { try await listener.accept() }
                if number % 2 == 0 { await Task(executorPreference: listener.loop) {}.value }
                await listener.close()
                _ = try await accepting.value
            }
            #expect(count() == before)
        }
    }

    @Test func `A released listener closes its descriptor`() async throws {
        await #expect(processExitsWith: .success) {
            // Counts sockets only, because the runtime opens its own descriptors at any time.
            func count() -> Int { (0..<256).count { target(of: $0)?.hasPrefix("socket:") == true } }
            let before = count()
            for _ in 0..<20 { _ = try await SocketListener.listen(at: .tcp(host: "127.0.0.1", port: 0)) }
            #expect(count() == before)
        }
    }
}
