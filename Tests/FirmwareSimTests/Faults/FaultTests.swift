import FirmwareSim
import Testing

@Suite("Faults of simulated devices")
struct FaultTests {
    /// Sends one command per second to a pump with faults, and advances the pump once per `period`, up to 5 s after the
    /// last command. Returns the output.
    private static func answers(
        _ faults: String, to commands: [String] = ["STATUS"], seed: UInt64 = 1, rate: LineRate = .unlimited,
        every period: Duration = .seconds(1)
    ) throws -> [Emission] {
        let settings = try Simulator.pump.settings(["fault": faults])
        let pump = PumpFirmware(
            options: PumpFirmwareOptions(lineRate: rate, heat: .fixed(water: 12, skin: 34.5)))
        var device = FaultyDevice(pump, faults: settings.faults(), seed: seed)
        var emissions: [Emission] = []
        var instant = Duration.zero
        for (index, command) in commands.enumerated() {
            while instant < .seconds(index) {
                instant = min(instant + period, .seconds(index))
                emissions += device.advance(to: instant)
            }
            device.receive(Array("\(command)\n".utf8), at: instant)
        }
        let end = instant + .seconds(5)
        while instant < end {
            instant += period
            emissions += device.advance(to: instant)
        }
        return emissions
    }

    private static func text(_ emissions: [Emission]) -> String {
        String(decoding: emissions.flatMap(\.bytes), as: UTF8.self)
    }

    private static let status = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"

    @Test("Without a fault the output and its times are unchanged")
    func none() throws {
        var pump = PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34.5)))
        pump.receive(Array("STATUS\n".utf8), at: .zero)
        let expected = (1...6).flatMap { pump.advance(to: .seconds($0)) }
        #expect(try Self.answers("none", rate: .baud(9600)) == expected)
        #expect(Self.text(expected) == Self.status)
    }

    @Test("An instant in the past of a faulty device counts as the present")
    func past() {
        var board = FaultyDevice(LEDFirmware())
        board.receive(Array("LED\n".utf8), at: .zero)
        board.receive([], at: .seconds(1))
        #expect(Self.text(board.advance(to: .zero)) == "LED:0\r\n")
    }

    @Test(
        "The same seed gives the same bytes at any step, and another seed gives others",
        arguments: ["drop@50%", "corrupt@50%", "duplicate@50%", "overrun@50%", "reset@20%", "silence=2s@20%"])
    func seeds(faults: String) throws {
        let commands = (0..<20).map { $0 % 2 == 0 ? "ON" : "STATUS" }
        let bytes = Self.text(try Self.answers(faults, to: commands))
        #expect(bytes != Self.text(try Self.answers("none", to: commands)))
        #expect(Self.text(try Self.answers(faults, to: commands, every: .milliseconds(7))) == bytes)
        #expect((2...6).contains { Self.text((try? Self.answers(faults, to: commands, seed: $0)) ?? []) != bytes })
    }

    @Test("The drop fault loses one byte of each line")
    func drop() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let lines = try Self.answers("drop@always", to: ["OFF", "OFF"], seed: seed)
            // OK and PUMP:OFF with their line ends, twice: four lines, each without one byte.
            #expect(lines.flatMap(\.bytes).count == 2 * (4 + 10) - 4)
        }
    }

    @Test("The corrupt fault flips one bit of each line")
    func corrupt() throws {
        let good = Array(Self.status.utf8)
        let bad = try Self.answers("corrupt@always").flatMap(\.bytes)
        #expect(good.count == bad.count)
        #expect(zip(good, bad).map { ($0 ^ $1).nonzeroBitCount }.reduce(0, +) == 1)
    }

    @Test("The duplicate fault repeats a line")
    func duplicate() throws {
        #expect(Self.text(try Self.answers("duplicate@always")) == Self.status + Self.status)
    }

    @Test("The duplicate fault repeats a phone's whole message", arguments: ["always", "50%"])
    func duplicateMessage(occasion: String) throws {
        let settings = try Simulator.rescue.settings(["fault": "duplicate@\(occasion)"])
        let phone = RescueFirmware(
            options: RescueFirmwareOptions(carrier: .line(.unlimited), messages: 20, interval: .zero))
        var device = FaultyDevice(phone, faults: settings.faults(), seed: 3)
        let bytes = device.advance(to: .seconds(5)).flatMap(\.bytes)
        let messages = String(decoding: bytes, as: UTF8.self).replacing("}{", with: "}\n{").split(separator: "\n")
        let ids = messages.compactMap { PhoneMessage(json: Array($0.utf8))?.id }
        #expect(ids.count == messages.count)
        #expect(Set(ids).count == 20)
        let counts = Dictionary(grouping: ids) { $0 }.mapValues(\.count)
        #expect(counts.values.allSatisfy { $0 == 2 } == (occasion == "always") && counts.values.contains(2))
    }

    @Test("The split fault sends a line in two chunks")
    func split() throws {
        let pieces = try Self.answers("split=300ms@always")
        #expect(pieces.count == 2 && Self.text(pieces) == Self.status)
        #expect(pieces[1].time - pieces[0].time == .milliseconds(300))
    }

    @Test("The delay fault sends a line late, in order and in one chunk")
    func delay() throws {
        let prompt = try Self.answers("none", rate: .baud(9600))
        let late = try Self.answers("delay=2s@always", rate: .baud(9600))
        #expect(Self.text(late) == Self.status && late.count == 1)
        let first = try #require(prompt.first)
        // 60 ms is a little more than the time of the line: 51 bytes at 9600 baud take 53 ms.
        #expect(late[0].time >= first.time + .seconds(2) - .milliseconds(60) && late[0].time > .seconds(2))
    }

    @Test("The join fault merges lines within its time")
    func join() throws {
        let apart = try Self.answers("none", to: ["OFF"], rate: .baud(9600), every: .milliseconds(1))
        #expect(apart.count > 1)
        #expect(Self.text(try Self.answers("join=100ms@always", to: ["OFF"])) == "OK\r\nPUMP:OFF\r\n")
        #expect(
            try Self.answers("join=100ms@always", to: ["OFF"], rate: .baud(9600), every: .milliseconds(1)).count == 1)
    }

    @Test("The drain fault sends a line byte by byte")
    func drain() throws {
        let bytes = try Self.answers("drain=30ms@always")
        #expect(Self.text(bytes.filter { $0.bytes.count == 1 }) == Self.status)
        #expect(zip(bytes, bytes.dropFirst()).allSatisfy { $1.time - $0.time >= .milliseconds(30) })
    }

    @Test("The reset fault cuts off the output and switches the pump off")
    func reset() throws {
        let commands = ["ON", "STATUS", "", "", "", "STATUS"]
        // The end of the status of a running pump.
        let running = "Remaining:29m,WaterTemp:12.0C,SkinTemp:34.5C}"
        #expect(Self.text(try Self.answers("none", to: commands)).contains(running))
        let text = Self.text(try Self.answers("reset@command:2", to: commands))
        #expect(text.hasPrefix("OK\r\nPUMP:ON\r\n"))
        #expect(text.hasSuffix(Self.status))
        #expect(!text.contains(running))
    }

    @Test("A silent device sends and receives nothing until its time is over")
    func silence() throws {
        let text = Self.text(try Self.answers("silence=1500ms@command:2", to: ["OFF", "ON", "ON", "OFF", "STATUS"]))
        // A part of the second reply may have arrived. The third command was not heard.
        #expect(text.hasPrefix("OK\r\nPUMP:OFF\r\n"))
        #expect(text.hasSuffix(Self.status))
        #expect(!text.contains("PUMP:ON\r\n"))
    }

    @Test("A line after a silence is a new line, not the rest of the one cut off")
    func silenceEnds() throws {
        let text = Self.text(
            try Self.answers("silence=1500ms@line:OK,duplicate@line:STATUS", to: ["OFF", "", "STATUS"]))
        #expect(text.hasSuffix(Self.status + Self.status))
    }

    @Test("Noise comes only when the line opens and after a reset")
    func noise() throws {
        let settings = try Simulator.pump.settings(["fault": "noise"])
        var device = FaultyDevice(PumpFirmware(), faults: settings.faults(), seed: 3)
        #expect(device.advance(to: .seconds(1)).isEmpty)
        device.hostCame(at: .seconds(1))
        #expect(!device.advance(to: .seconds(1)).flatMap(\.bytes).isEmpty)
        #expect(device.advance(to: .seconds(2)).isEmpty)
        device.reset(at: .seconds(2))
        #expect(!device.advance(to: .seconds(2)).flatMap(\.bytes).isEmpty)
    }

    @Test("The overrun fault loses a byte of a command")
    func overrun() throws {
        #expect(Self.text(try Self.answers("overrun@command:2", to: ["OFF", "STATUS"])).contains("OK\r\nPUMP:OFF\r\n"))
        let unknown = (1...20 as ClosedRange<UInt64>).filter {
            let text = Self.text((try? Self.answers("overrun@always", to: ["STATUS", "OFF"], seed: $0)) ?? [])
            return text.contains("ERROR:UNKNOWN_COMMAND")
        }
        #expect(!unknown.isEmpty)
    }

    /// A clock with a negative drift runs fast: at -10 % it runs 1.1 times as fast.
    @Test("A drifting clock shuts the pump off early or late", arguments: [("-10%", 1.1), ("10%", 0.9)])
    func drift(share: String, rate: Double) throws {
        let settings = try Simulator.pump.settings(["fault": "drift=\(share)"])
        let options = PumpFirmwareOptions(lineRate: .unlimited, heat: .fixed(water: 12, skin: 34.5))
        var device = FaultyDevice(PumpFirmware(options: options), faults: settings.faults())
        device.receive(Array("ON\n".utf8), at: .zero)
        let emissions = device.advance(to: .seconds(3600))
        let shutOff = try #require(
            emissions.first { String(decoding: $0.bytes, as: UTF8.self).contains("SAFETY_SHUTOFF") })
        let expected = Duration.seconds(1800) / rate
        #expect(shutOff.time > expected - .seconds(2) && shutOff.time < expected + .seconds(2))
    }

    @Test("A fault hits a line with the given beginning, the next line after a time, or the reply to a command")
    func occasions() throws {
        let commands = ["OFF", "STATUS", "STATUS"]
        #expect(
            Self.text(try Self.answers("duplicate@line:PUMP", to: ["OFF", "STATUS"]))
                == "OK\r\nPUMP:OFF\r\nPUMP:OFF\r\n" + Self.status)
        #expect(
            Self.text(try Self.answers("duplicate@command:2", to: commands))
                == "OK\r\nPUMP:OFF\r\n" + Self.status + Self.status + Self.status)
        #expect(
            Self.text(try Self.answers("duplicate@1500ms", to: commands))
                == "OK\r\nPUMP:OFF\r\n" + Self.status + Self.status + Self.status)
    }

    @Test(
        "An invalid fault is refused",
        arguments: [
            "bogus", "drop=2s", "delay=0", "delay=x", "drop@0%", "drop@101%", "drop@command:0", "drop@line:",
            "drop@start",
            "drift@5%", "drift=80%", "drop,", "", "overrun@line:ON", "none,drop",
        ])
    func refused(text: String) {
        #expect(throws: SimulatorOptionError.self) { try Simulator.pump.settings(["fault": text]) }
    }

    @Test("A fault of another carrier is refused, but a pump over BLE also has line faults")
    func carriers() throws {
        #expect(throws: SimulatorOptionError("fault", .fault("corrupt", only: .line))) {
            try Simulator.led.settings(["fault": "delay,corrupt"], over: .radio)
        }
        #expect(throws: SimulatorOptionError("fault", .fault("lost", only: .radio))) {
            try Simulator.led.settings(["fault": "lost"])
        }
        #expect(try Simulator.pump.settings(["fault": "corrupt,lost"], over: .radio).faults().count == 2)
    }

    @Test("A peer has one image fault beside the general ones")
    func peer() throws {
        let settings = try Simulator.peer.settings(["fault": "stalls,delay=2s@10%"])
        #expect(settings.ownFault() == "stalls" && settings.faults().count == 1)
        // An image has only one fault; of two faults, neither may be ignored silently.
        #expect(throws: SimulatorOptionError.self) { try Simulator.peer.settings(["fault": "stalls,not_png"]) }
    }

    @Test("Each of several devices gets the next seed")
    func numbered() throws {
        let settings = try Simulator.pump.settings(["seed": "7"])
        #expect((1...3).map { settings.numbered($0).seed() } == [7, 8, 9])
        let last = try Simulator.pump.settings(["seed": "\(UInt64.max)"])
        #expect(last.numbered(2).seed() == 0)
    }

    @Test("Each fault cites its public thread and describes itself in a sentence")
    func rows() {
        #expect(Fault.all.map(\.name) == Fault.all.map(\.name).sorted())
        for fault in Fault.all {
            #expect(fault.source.hasPrefix("https://github.com/"), "\(fault.name)")
            #expect(fault.help.hasSuffix("."), "\(fault.name)")
        }
    }
}
