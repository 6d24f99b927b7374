import FirmwareSim
import TestSupport
import Testing

@Suite("Timing of the pump")
struct PumpTimingTests {
    /// The arguments are steps of 5 ms: together more than a turn of 109 ms.
    @Test("A command takes effect within one loop turn of its arrival", arguments: 0..<30)
    func latency(step: Int) {
        var bench = PumpBench()
        _ = bench.run(for: .milliseconds(1000 + 5 * step))
        let sent = bench.now
        bench.send("OFF\n")
        let emissions = bench.emissions(for: .milliseconds(400))
        #expect(emissions.map(\.bytes) == [Array("OK\r\nPUMP:OFF\r\n".utf8)])
        let delay = emissions[0].time - sent
        #expect(delay >= .zero)
        #expect(delay <= .milliseconds(109))
    }

    @Test("Bytes are sent back to back at the line rate")
    func pacedReply() {
        var bench = PumpBench(PumpFirmwareOptions())
        bench.send("OFF\n")
        let byteTime = LineRate.baud(9600).timePerByte
        var times: [Duration] = []
        while !bench.pump.isQuiescent, let next = bench.pump.nextActivity {
            times += bench.pump.advance(to: next).map(\.time)
        }
        #expect(times == (1...14).map { .milliseconds(109) + byteTime * $0 })
    }

    @Test("No byte is sent after the requested time, at any step")
    func emissionsAreCausal() {
        var bench = PumpBench(PumpFirmwareOptions())
        bench.send("ON\nSTATUS\n")
        var last: Duration = .zero
        for _ in 0..<700 {
            for emission in bench.emissions(for: .milliseconds(1)) {
                #expect(emission.time <= bench.now)
                #expect(emission.time > last)
                last = emission.time
            }
        }
        #expect(last > .milliseconds(250))
    }

    @Test("Each turn handles one command and blinks, 159 ms apart")
    func oneCommandATurn() {
        var bench = PumpBench()
        bench.send("ON\nSPEED:1\nSPEED:2\nOFF\n")
        let emissions = bench.emissions(for: .seconds(1))
        #expect(
            emissions.map { String(decoding: $0.bytes, as: UTF8.self) } == [
                printed("OK", "PUMP:ON"), printed("OK", "SPEED:1"), printed("OK", "SPEED:2"), printed("OK", "PUMP:OFF"),
            ])
        #expect(emissions.map(\.time) == [109, 268, 427, 586].map { .milliseconds($0) })
        #expect(bench.pump.commandsHandled == 4)
    }

    @Test("A turn without a command does not blink")
    func idleTurn() {
        var bench = PumpBench()
        _ = bench.run(for: .milliseconds(1090))
        #expect(bench.pump.turns == 11)
        bench.send("FOO\n")
        _ = bench.run(for: .milliseconds(109 * 10 + 50))
        #expect(bench.pump.turns == 21)
    }

    @Test("A line that is too long takes a turn")
    func tooLongTakesATurn() {
        var bench = PumpBench()
        bench.send(String(repeating: "X", count: 60))
        _ = bench.run(for: .milliseconds(110))
        bench.send(String(repeating: "X", count: 10) + "\n")
        #expect(bench.emissions(for: .seconds(1)).map(\.time) == [218, 377].map { .milliseconds($0) })
        #expect(bench.pump.commandsHandled == 2)
    }

    @Test("An empty line takes no turn")
    func emptyLineTakesNoTurn() {
        var bench = PumpBench()
        bench.send("\n\r\n\nOFF\n")
        #expect(bench.emissions(for: .seconds(1)).map(\.time) == [.milliseconds(109)])
        #expect(bench.pump.commandsHandled == 1)
    }

    @Test("A command may arrive in pieces, turns apart")
    func pieces() {
        var bench = PumpBench()
        for piece in ["S", "PEED:", "12", ""] {
            bench.send(piece)
            #expect(bench.run(for: .seconds(1)) == "")
        }
        #expect(bench.exchange("\n") == printed("ERROR:PUMP_NOT_RUNNING"))
    }

    @Test("While the firmware sleeps 63 bytes are kept, and the rest is lost")
    func receiveOverflow() {
        var bench = PumpBench()
        bench.send(String(repeating: "STATUS\n", count: 20))
        let reply = printed("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}")
        #expect(bench.run(for: .seconds(5)) == String(repeating: reply, count: 9))
        #expect(bench.pump.receiveOverflows == 20 * 7 - 63)
    }

    @Test(
        "A burst at 9600 baud loses as many commands as on a real device",
        arguments: [("SPEED:1\n", 9, 7), ("FOO\n", 20, 15)])
    func bursts(command: String, sent: Int, answered: Int) {
        var bench = PumpBench(PumpFirmwareOptions())
        bench.send(String(repeating: command, count: sent))
        _ = bench.run(for: .seconds(10))
        #expect(bench.pump.commandsHandled == answered)
        // The rest of the last command, which lost its line end, spoils the next command.
        #expect(bench.exchange("ON\n") != printed("OK", "PUMP:ON"))
        #expect(bench.exchange("ON\n") == printed("OK", "PUMP:ON"))
    }

    @Test("A line of 70 bytes loses its end and spoils the next command")
    func longLineLosesItsEnd() {
        var bench = PumpBench(PumpFirmwareOptions())
        bench.send(String(repeating: "X", count: 70) + "\n")
        #expect(bench.run(for: .seconds(1)) == "")
        #expect(bench.exchange("ON\n") == printed("ERROR:CMD_TOO_LONG", "ERROR:UNKNOWN_COMMAND"))
    }

    @Test("At 9600 baud commands outrun the loop, and bytes are lost")
    func receiveOverflowPaced() {
        var bench = PumpBench(PumpFirmwareOptions())
        bench.send(String(repeating: "STATUS\n", count: 100))
        _ = bench.run(for: .seconds(30))
        #expect(bench.pump.receiveOverflows > 0)
        #expect(bench.pump.commandsHandled < 100)
    }

    @Test("A line longer than the transmit buffer blocks the loop until there is room")
    func printingBlocks() {
        // 85 bytes: one in the shift register, one in the register before it, 63 in the ring, 20 that must wait.
        let byteTime = LineRate.baud(9600).timePerByte
        var bench = PumpBench(PumpFirmwareOptions())
        bench.send("ON\n")
        _ = bench.run(for: .milliseconds(200))
        bench.send("STATUS\nOFF\n")
        let emissions = bench.emissions(for: .seconds(1))
        let bytes = emissions.flatMap(\.bytes)
        #expect(bytes.count == 85 + 14)
        // Each command is handled in its own turn. The second turn is delayed by the waiting in the first.
        #expect(emissions.count == 2)
        #expect(emissions[0].time == .milliseconds(268) + byteTime * 85)
        #expect(emissions[1].time == .milliseconds(427) + byteTime * 20 + byteTime * 14)
    }

    @Test("The status LED blinks for 50 ms after a command, the power LED stays on")
    func lights() {
        var bench = PumpBench()
        var lit = 0
        for millisecond in 0..<1000 {
            if millisecond % 300 == 0 { bench.send("TEMP\n") }
            _ = bench.run(for: .milliseconds(1))
            if bench.pump.statusLED { lit += 1 }
            #expect(bench.pump.powerLED)
        }
        #expect(lit == 200)
    }

    @Test("An idle device wakes every 10 s and catches up on its turns")
    func idle() {
        var pump = PumpFirmware()
        var wakes = 0
        while let next = pump.nextActivity, next < .seconds(1090) {
            #expect(pump.advance(to: next).isEmpty)
            wakes += 1
        }
        #expect(wakes <= 111)
        #expect(pump.isQuiescent)
        _ = pump.advance(to: .milliseconds(1_089_999))
        #expect(pump.turns == 10_000)
    }

    @Test("Skipping idle turns gives the same bytes at the same times")
    func skippedTurns() {
        // One day of a pump in occasional use: commands, the button, and pauses of up to an hour.
        var random = SplitMix64(seed: 15)
        var lazy = PumpFirmware()
        var eager = lazy
        var lazySaid: [Emission] = []
        var eagerSaid: [Emission] = []
        var instant = Duration.zero
        while instant < .seconds(86_400) {
            let end = instant + .milliseconds(Int.random(in: 1...3_600_000, using: &random))
            while let next = lazy.nextActivity, next <= end {
                let emissions = lazy.advance(to: next)
                // Each emission carries the present time: none is reported late.
                #expect(emissions.allSatisfy { $0.time == next })
                lazySaid += emissions
            }
            while instant < end {
                instant = min(instant + .milliseconds(50), end)
                eagerSaid += eager.advance(to: instant)
            }
            switch ["ON\n", "OFF\n", "STATUS\n", "TEMP\n", "SPEED:90\n", nil].randomElement(using: &random)! {
            case let command?:
                lazy.receive(Array(command.utf8), at: instant)
                eager.receive(Array(command.utf8), at: instant)
            case nil:
                lazy.pressButton(at: instant)
                eager.pressButton(at: instant)
            }
        }
        #expect(lazySaid.count > 100)
        #expect(Self.bytes(lazySaid) == Self.bytes(eagerSaid))
    }

    private struct TimedByte: Equatable {
        var byte: UInt8
        var time: Duration
    }

    /// Each byte at 9600 baud with the time at which it left.
    private static func bytes(_ emissions: [Emission]) -> [TimedByte] {
        emissions.flatMap { emission in
            emission.bytes.enumerated().map { index, byte in
                TimedByte(
                    byte: byte,
                    time: emission.time - LineRate.baud(9600).timePerByte * (emission.bytes.count - 1 - index))
            }
        }
    }

    @Test("The same history gives the same bytes at any step", arguments: [1, 7, 1000])
    func determinism(stride: Int) {
        var bench = PumpBench(PumpFirmwareOptions(heat: .moving(water: 12, skin: 35)))
        bench.pump.setSkinThermistor(.sound)
        bench.pump.setWaterThermistor(.sound)
        bench.send("ON\nSPEED:255\n")
        var bytes: [UInt8] = []
        for _ in 0..<(21_000 / stride) {
            bytes += bench.emissions(for: .milliseconds(stride)).flatMap(\.bytes)
        }
        bytes += bench.emissions(for: .milliseconds(21_000 % stride)).flatMap(\.bytes)

        var whole = PumpBench(PumpFirmwareOptions(heat: .moving(water: 12, skin: 35)))
        whole.pump.setSkinThermistor(.sound)
        whole.pump.setWaterThermistor(.sound)
        whole.send("ON\nSPEED:255\n")
        #expect(bytes == whole.emissions(for: .seconds(21)).flatMap(\.bytes))
        #expect(bytes.count > 4 * 80)
        #expect(bench.pump.heat == whole.pump.heat)
    }
}
