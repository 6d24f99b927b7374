import DescriptorIO
import Glibc
import TestSupport
import Testing

@Suite("Many connections to pumpctld", .timeLimit(.minutes(5)))
struct ManyConnectionsTests {
    /// The resources that a process has at a moment.
    private struct Holdings {
        /// The number of entries of /proc/PID/fd, with `.` and `..`.
        var descriptors: Int
        /// Resident memory in KiB.
        var memory: Int

        init(of process: pid_t) throws {
            let folder = try #require(opendir("/proc/\(process)/fd"))
            defer { closedir(folder) }
            descriptors = 0
            while readdir(folder) != nil { descriptors += 1 }
            let status = try #require(TextFile.contents(of: "/proc/\(process)/status"))
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
            memory = try #require(line.split(separator: " ").compactMap { Int($0) }.first)
        }
    }

    @Test("Thousands of connections with half lines leak no descriptors and no memory")
    func thousands() async throws {
        let pump = try await PumpBehindTerminal()
        let folder = pump.folder
        // A loopback address that no other test uses.
        let host = "127.\(64 + getpid() >> 16 & 0x3F).\(getpid() >> 8 & 0xFF).\(getpid() & 0xFF)"
        let file = folder.write(
            """
            [daemon]
            socket = "\(folder.path("control"))"
            log-level = "error"
            [device.pump]
            endpoint = "\(pump.port)"
            tcp = "\(host):4000"
            unix = "\(folder.path("socket"))"
            """, to: "pumpctld.toml")
        let daemon = try await ChildProcess(
            [Executable.pumpctld, "--config", file], environment: ChildProcess.surroundings)
        let listeners = try await untilListening(
            [.tcp(host: host, port: 4000), .unix(path: folder.path("socket")), .unix(path: folder.path("control"))])
        let control = try await ShareClient(socket: folder.path("control"))
        try await control.channel.write(Array("{\"id\":1,\"do\":\"subscribe\",\"events\":[\"link\"]}\n".utf8))
        try await control.received.text(upTo: #""id":1,"ok":true"#)
        var random = SplitMix64(seed: 51)
        let halves = ["", "ON", "{\"id\":", "OF", "{\"id\":1,\"do\":", "\u{0}\u{1}"]
        var holdings: [Holdings] = []
        let count = Seeds.amount(3_000, soak: 10_000)
        for number in 0..<count {
            // The usage after a third of the connections is the baseline.
            if number == count / 3 { holdings.append(try await quiet(daemon, control)) }
            let address = listeners[random.number(below: listeners.count)]
            let channel = try await connect(to: address, control)
            // The daemon may have hung up already, because it has as many clients as its limit permits.
            try? await channel.write(Array(halves[random.number(below: halves.count)].utf8))
            await channel.leave()
        }
        holdings.append(try await quiet(daemon, control))
        #expect(holdings[1].descriptors == holdings[0].descriptors)
        // 2 MiB are a margin for memory that the allocator keeps; chosen.
        #expect(holdings[1].memory < holdings[0].memory + 2048, "\(holdings)")
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        await control.channel.close()
        await pump.close()
    }

    @Test("OFF works when the daemon's descriptors run out, and the shortage is logged once")
    func outOfDescriptors() async throws {
        let pump = try await PumpBehindTerminal()
        let path = pump.folder.path("socket")
        let daemon = try await ChildProcess(
            ["prlimit", "--nofile=40:40", Executable.pumpctld, "--port", pump.port, "--unix", path],
            environment: ChildProcess.surroundings)
        try await daemon.errors.text(upTo: "the link is open")
        var clients: [ShareClient] = []
        while !daemon.errors.state.text.contains("no room for more connections") {
            clients.append(try await ShareClient(socket: path))
            try await clients[0].ask("TEMP", for: "TEMP")
        }
        let off = try await ChildProcess(
            [Executable.pumpctl, "-p", "unix:\(path)", "--timeout", "60", "off"], environment: ChildProcess.surroundings
        ).ending()
        #expect(off.output == "pump off\n", "\(off)")
        daemon.send(signal: SIGTERM)
        let ending = try await daemon.ending()
        #expect(ending.errors.split(separator: "\n").filter { $0.contains("no room for more connections") }.count == 1)
        for client in clients { await client.channel.close() }
        await pump.close()
    }

    /// Waits until the daemon listens at all of these addresses.
    private func untilListening(_ addresses: [SocketAddress]) async throws -> [SocketAddress] {
        for address in addresses {
            while (try? await DescriptorChannel.connect(to: address, deadline: .now.advanced(by: .seconds(1))).leave())
                == nil
            {
                try Task.checkCancellation()
            }
        }
        return addresses
    }

    /// Waits until the daemon has no clients left, except `control`, and has the same number of descriptors twice;
    /// returns its resources.
    private func quiet(_ daemon: ChildProcess, _ control: ShareClient) async throws -> Holdings {
        var before = -1
        while true {
            let answer = try await answer(control)
            let holdings = try Holdings(of: daemon.processID)
            if answer.contains(#""clients":0"#), holdings.descriptors == before { return holdings }
            before = holdings.descriptors
            try Task.checkCancellation()
        }
    }

    /// Connects to the daemon. Retries as long as its queue of unaccepted connections is full (EAGAIN).
    private func connect(to address: SocketAddress, _ control: ShareClient) async throws -> DescriptorChannel {
        while true {
            do throws(DescriptorError) {
                return try await DescriptorChannel.connect(to: address, deadline: .now.advanced(by: patience))
            } catch {
                guard error.errno == EAGAIN else { throw error }
            }
            try await answer(control)
        }
    }

    /// Asks the daemon for its devices; returns the reply, with each device's number of clients.
    @discardableResult
    private func answer(_ control: ShareClient) async throws -> String {
        try await control.channel.write(Array("{\"id\":2,\"do\":\"devices\"}\n".utf8))
        return try await control.received.text(upTo: #""id":2,"ok":true"#)
    }
}
