import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct StormDownloadTests {
    /// A running download with a sensor played by the test.
    private struct Bench {
        let clock = ManualClock()
        let link: ScriptedLink
        /// The text of the log received so far.
        let text = Watched([UInt8]())
        let result: Task<Result<StormDownload, StormDownload.Failure>, Never>

        init(
            backlog: [String] = [], keepsPacketBounds: Bool = false, mayHaveReset: Bool = false,
            packetCapacity: Int? = nil, quiet: Duration = .seconds(2)
        ) {
            let link = ScriptedLink(
                backlog: backlog, keepsPacketBounds: keepsPacketBounds, mayHaveReset: mayHaveReset,
                packetCapacity: packetCapacity)
            self.link = link
            let (clock, text) = (clock, text)
            result = Task {
                var download = StormDownload(over: link, clock: clock, timeout: .seconds(3), quiet: quiet)
                do throws(StormDownload.Failure) {
                    while let more = try await download.next() { text.update { $0 += more } }
                    return .success(download)
                } catch {
                    return .failure(error)
                }
            }
        }

        /// Waits until the download sleeps until `deadline`, and advances the clock to it.
        func pass(to deadline: Duration) async {
            await clock.untilSomebodySleeps(until: deadline)
            clock.advance(by: deadline - clock.now.offset)
        }

        /// Lets the 100 ms of silence pass for which the download waits first, and expects the command.
        func ask() async {
            await pass(to: .milliseconds(100))
            #expect(await link.nextSent() == "GET_LOG\n")
        }

        /// The download's session error; nil if there is none.
        var failure: SessionError? {
            get async { if case .failure(.session(let error)) = await result.value { error } else { nil } }
        }

        /// The failure of the download; nil if it succeeded.
        var reason: StormDownload.Failure? {
            get async { if case .failure(let reason) = await result.value { reason } else { nil } }
        }

        /// Waits until the download has returned exactly this part of the log.
        func came(_ expected: String) async throws {
            _ = try await text.wait(for: expected) { $0 == Array(expected.utf8) ? true : nil }
        }
    }

    @Test func `A log ends after the quiet time`() async throws {
        let bench = Bench()
        await bench.ask()
        await bench.link.deliver("GET_LOG\r\nLOG Values: 1 2 3 4\n")
        try await bench.came("1 2 3 4\n")
        await bench.clock.untilSomebodySleeps(until: .milliseconds(2100))
        bench.clock.advance(by: .milliseconds(1900))
        await bench.link.deliver("5 6 7 8\n")
        try await bench.came("1 2 3 4\n5 6 7 8\n")
        // The quiet time of 2 s counts from the last piece of the log, at 2 s.
        await bench.pass(to: .milliseconds(4000))
        let download = try await bench.result.value.get()
        #expect(download.byteCount == 16)
        #expect(download.liveRowCount == 0)
    }

    @Test func `Live rows are counted and left out, and do not prolong the log`() async throws {
        let bench = Bench()
        await bench.ask()
        await bench.link.deliver("LIVE LOG: 1 2 3 0\r\nLOG Values: a\n")
        try await bench.came("a\n")
        await bench.clock.untilSomebodySleeps(until: .milliseconds(2100))
        bench.clock.advance(by: .milliseconds(1900))
        await bench.link.deliver("LIVE LOG: 1 2 3 4\r\nLIVE LOG: 1 2 3 5\r\n")
        await bench.pass(to: .milliseconds(2100))
        #expect(try await bench.result.value.get().liveRowCount == 3)
        try await bench.came("a\n")
    }

    @Test func `A download whose request failed is over`() async {
        let link = ScriptedLink()
        var download = StormDownload(over: link, clock: ManualClock())
        await link.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        let error = await #expect(throws: StormDownload.Failure.self) { try await download.next() }
        // A second request would fail with `closed`.
        await link.close()
        let again = await #expect(throws: StormDownload.Failure.self) { try await download.next() }
        #expect(again == error)
    }

    @Test func `An empty log is a log`() async throws {
        let bench = Bench()
        await bench.ask()
        await bench.link.deliver("LOG Values: \r\n")
        await bench.pass(to: .milliseconds(2100))
        #expect(try await bench.result.value.get().byteCount == 0)
    }

    @Test func `Text without a prefix is a log, and a partial prefix is delivered at the end`() async throws {
        let bench = Bench()
        await bench.ask()
        await bench.link.deliver("1 2 3 4\nLIVE LO")
        try await bench.came("1 2 3 4\n")
        await bench.pass(to: .milliseconds(2100))
        _ = try await bench.result.value.get()
        try await bench.came("1 2 3 4\nLIVE LO")
    }

    @Test func `A sensor that sends nothing, only the command's echo, or only live rows has not answered`() async {
        for speech in ["", "GET_LOG\r\n", "LIVE LOG: 1 2 3 4\r\n"] {
            let bench = Bench()
            await bench.ask()
            if !speech.isEmpty { await bench.link.deliver(speech) }
            await bench.pass(to: .milliseconds(3100))
            let error = SessionError(.noAnswer, command: "GET_LOG", outcome: .nothingChanged, waited: .seconds(3))
            #expect(await bench.failure == error)
        }
    }

    @Test func `If the link breaks within the log, the download fails after the received text`() async throws {
        let bench = Bench()
        await bench.ask()
        let gone = LinkError(.disconnected, name: "scripted", activity: "receive")
        await bench.link.deliver("LOG Values: 1 2 3 4\nG")
        await bench.link.end(with: gone)
        let error = SessionError(.linkLost, command: "GET_LOG", outcome: .nothingChanged, link: gone)
        #expect(await bench.failure == error)
        try await bench.came("1 2 3 4\nG")
    }

    @Test func `A log ends only after the connection is confirmed, with the text that came before`() async throws {
        let bench = Bench()
        let link = bench.link
        let confirmations = Watched(0)
        link.onConfirmation {
            confirmations.update { $0 += 1 }
            if confirmations.state == 1 { await link.deliver("5 6 7 8\n") }
            return nil
        }
        await bench.ask()
        await link.deliver("LOG Values: 1 2 3 4\n")
        try await bench.came("1 2 3 4\n")
        await bench.pass(to: .milliseconds(2100))
        try await bench.came("1 2 3 4\n5 6 7 8\n")
        await bench.pass(to: .milliseconds(4100))
        #expect(try await bench.result.value.get().byteCount == 16)
        #expect(confirmations.state == 2)
    }

    @Test func `A silence with a lost connection is not the end of the log`() async throws {
        let bench = Bench()
        let gone = LinkError(.disconnected, name: "scripted", activity: "confirm the connection")
        bench.link.onConfirmation { gone }
        await bench.ask()
        await bench.link.deliver("LOG Values: 1 2 3 4\n")
        try await bench.came("1 2 3 4\n")
        await bench.pass(to: .milliseconds(2100))
        let error = SessionError(.linkLost, command: "GET_LOG", outcome: .nothingChanged, link: gone)
        #expect(await bench.failure == error)
    }

    @Test func `A cancelled download fails with cancelled`() async throws {
        let bench = Bench()
        await bench.ask()
        await bench.link.deliver("LOG Values: 1 2 3 4\n")
        try await bench.came("1 2 3 4\n")
        bench.result.cancel()
        #expect(await bench.failure?.code == .cancelled)
    }

    @Test func `The rest of an earlier log is waited for and dropped`() async throws {
        let bench = Bench(backlog: ["9 9 9 9\n9 9 9"])
        await bench.clock.untilSomebodySleeps(until: .milliseconds(100))
        bench.clock.advance(by: .milliseconds(60))
        await bench.link.deliver(" 9\n9 9")
        await bench.pass(to: .milliseconds(160))
        #expect(await bench.link.nextSent() == "GET_LOG\n")
        await bench.link.deliver("LOG Values: 1 2 3 4\n")
        await bench.pass(to: .milliseconds(2160))
        _ = try await bench.result.value.get()
        try await bench.came("1 2 3 4\n")
    }

    @Test func `A begun live row is completed before the command`() async throws {
        let bench = Bench(backlog: ["LIVE LOG: 1 2"])
        await bench.pass(to: .milliseconds(100))
        await bench.clock.untilSomebodySleeps(until: .milliseconds(200))
        await bench.link.deliver(" 3 4\r\n")
        await bench.pass(to: .milliseconds(200))
        #expect(await bench.link.nextSent() == "GET_LOG\n")
        await bench.link.deliver("LOG Values: a\n")
        await bench.pass(to: .milliseconds(2200))
        _ = try await bench.result.value.get()
        try await bench.came("a\n")
    }

    @Test func `A board that may have been reset gets the quiet time to boot`() async throws {
        let bench = Bench(mayHaveReset: true)
        await bench.clock.untilSomebodySleeps(until: .milliseconds(2000))
        bench.clock.advance(by: .milliseconds(500))
        await bench.link.deliver("rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n")
        await bench.pass(to: .milliseconds(2500))
        #expect(await bench.link.nextSent() == "GET_LOG\n")
        await bench.link.deliver("LOG Values: a\n")
        await bench.pass(to: .milliseconds(4500))
        _ = try await bench.result.value.get()
        try await bench.came("a\n")
    }

    @Test func `A device that does not become quiet is not queried`() async {
        let bench = Bench()
        // Noise comes every 80 ms, before 100 ms of silence have passed, until the timeout of 3 s.
        for time in 1...39 {
            await bench.clock.untilSomebodySleeps(until: .milliseconds(20 + time * 80))
            bench.clock.advance(by: .milliseconds(80))
            await bench.link.deliver("noise\n")
        }
        #expect(await bench.failure?.code == .notUnderstood)
        #expect(bench.link.unreadSent == [])
    }

    @Test func `On a packet link the command has no line end`() async throws {
        let bench = Bench(keepsPacketBounds: true)
        await bench.pass(to: .milliseconds(100))
        #expect(await bench.link.nextSent() == "GET_LOG")
        for packet in ["GET_LOG", "LOG Values: 1 2 3 4.5", "6\n7 8", "LIVE LOG: 1 1 1 1", " 9 10\n"] {
            await bench.link.deliver(packet)
        }
        try await bench.came("1 2 3 4.56\n7 8 9 10\n")
        await bench.pass(to: .milliseconds(2100))
        #expect(try await bench.result.value.get().liveRowCount == 1)
    }

    // MARK: Incomplete logs

    @Test func `The boot text of an ESP32 ends a log as cut off`() async throws {
        for boot in ["ets Jul 29 2019 12:21:46\r\n\r\n", "ESP-ROM:esp32s3-20210327\r\n", "rst:0x1 (POWERON_RESET)\r\n"]
        {
            let bench = Bench()
            await bench.ask()
            await bench.link.deliver("LOG Values: 1 2 3 4\n5 6 ")
            await bench.link.deliver(boot)
            #expect(await bench.reason == .restarted)
            try await bench.came("1 2 3 4\n5 6 ")
        }
    }

    @Test func `A restart before the log is reported as a restart`() async throws {
        let bench = Bench()
        await bench.ask()
        await bench.link.deliver("ets Jul 29 2019 12:21:46\r\n")
        #expect(await bench.reason == .restarted)
        #expect(bench.text.state.isEmpty)
    }

    @Test func `A log that begins again is an error`() async throws {
        let bench = Bench()
        await bench.ask()
        await bench.link.deliver("LOG Values: 1 2 3 4\n5 6 7 8\n")
        await bench.link.deliver("LOG Values: 1 2 3 4\n5 6 7 8\n")
        #expect(await bench.reason == .beganAgain)
        try await bench.came("1 2 3 4\n5 6 7 8\n")
    }

    /// Delivers all of `packets` to a download, and then advances the clock until the download ends.
    ///
    /// - Parameter capacity: The largest packet in bytes, as stated by the link.
    /// - Returns: The bench, and the failure of the download; nil if it succeeded.
    private func fetch(_ packets: [String], capacity: Int? = 20) async throws -> (Bench, StormDownload.Failure?) {
        let bench = Bench(keepsPacketBounds: true, packetCapacity: capacity)
        await bench.pass(to: .milliseconds(100))
        _ = await bench.link.nextSent()
        for packet in packets { await bench.link.deliver(packet) }
        let isOver = Watched(false)
        let result = Task {
            defer { isOver.update { $0 = true } }
            return await bench.reason
        }
        while !isOver.state {
            await settle()
            bench.clock.advance(by: .seconds(2))
        }
        return (bench, await result.value)
    }

    @Test func `Rows without line ends in packets of their own are kept apart`() async throws {
        let (bench, reason) = try await fetch([
            "LOG Values: ", "1 2 3 500.00", "1 1 1 500.37", "2 2 2 -1.5", "3 3 3 4\n",
        ])
        #expect(reason == nil)
        try await bench.came("1 2 3 500.00\n1 1 1 500.37\n2 2 2 -1.5\n3 3 3 4\n")
        let download = try await bench.result.value.get()
        #expect(download.addedLineEndCount == 3)
        #expect(download.gapCount == 0)
        #expect(download.byteCount == 45)
    }

    @Test func `A row split over packets is joined, wherever it was split`() async throws {
        let log = "1 2 3 500.00\n1 1 1 500.37\r\n22 2 2 -1.5\n3 3 3 4\n"
        for length in 1...log.utf8.count {
            let rest = Array(log.utf8)
            let packets = stride(from: 0, to: rest.count, by: length).map {
                String(decoding: rest[$0..<min($0 + length, rest.count)], as: UTF8.self)
            }
            let (bench, reason) = try await fetch(["LOG Values: "] + packets, capacity: length)
            #expect(reason == nil)
            try await bench.came(log)
            let download = try await bench.result.value.get()
            #expect(download.gapCount == 0 && download.addedLineEndCount == 0, "packets of \(length)")
        }
    }

    @Test func `Lost packet ends are counted as gaps, and their rows are not joined`() async throws {
        let (bench, _) = try await fetch([
            "LOG Values: 1 2 3 50", "10 2 3 4.5\n2 2 3 500", "11 2 3 4.50\n", "12 2 3 4.50\n1 2 3 5",
        ])
        let download = try await bench.result.value.get()
        #expect(download.gapCount == 2)
        try await bench.came("1 2 3 50\n10 2 3 4.5\n2 2 3 500\n11 2 3 4.50\n12 2 3 4.50\n1 2 3 5")
    }

    @Test func `A log that fills its last packet without a line end has a gap`() async throws {
        for (packet, gaps) in [("LOG Values: 1 2 3 50", 1), ("LOG Values: 1 2 3 5", 0), ("LOG Values: 1 2 3 \n", 0)] {
            let (bench, _) = try await fetch([packet])
            #expect(try await bench.result.value.get().gapCount == gaps)
        }
        // A packet longer than the stated capacity proves it wrong: no packet counts as full then.
        let (bench, _) = try await fetch(["LOG Values: 1 2 3 4.50\n", "5 6 7 8\n9 10 11 1234"])
        #expect(try await bench.result.value.get().gapCount == 0)
    }

    @Test func `Text that is no row is part of the log and stays unchanged`() async throws {
        let packets = ["LOG Values: started ", "at noon\n1 2 3 4.50\n", "2 2 3 4.50\nbattery ", "is low\n"]
        let (bench, _) = try await fetch(packets)
        try await bench.came("started at noon\n1 2 3 4.50\n2 2 3 4.50\nbattery is low\n")
        #expect(try await bench.result.value.get().gapCount == 0)
    }

    @Test func `Each packet may have the prefix, but a repeated beginning is another log`() async throws {
        let (bench, reason) = try await fetch(["LOG Values: 1 2 3 4\n", "LOG Values: 5 6 7 8\n"])
        #expect(reason == nil)
        try await bench.came("1 2 3 4\n5 6 7 8\n")
        let (_, second) = try await fetch(["LOG Values: 1 2 3 4\n", "5 6 7 8\n", "LOG Values: 1 2 3 4\n"])
        #expect(second == .beganAgain)
    }
}
