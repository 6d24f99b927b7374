import LineProtocol
import TestSupport
import Testing
import Transports

@Suite("Bench: sessions with the pump")
struct PumpSessionBenchTests {
    /// The time limit of a command in real time, so that a busy machine fails no test.
    static let patience = Duration.seconds(30)

    @Test("Each command is carried out by the motor", arguments: RigKind.allCases)
    func commands(kind: RigKind) async throws {
        try await kind.run { rig in
            let pump = try await rig.session()
            #expect(try await rig.motor() == .off)
            try await pump.turnOn(timeout: Self.patience)
            #expect(try await rig.motor() == .on(180))
            for duty in [200, 0, 255, 1] {
                try await pump.setSpeed(try #require(PumpSpeed(pwm: duty)), timeout: Self.patience)
                #expect(try await rig.motor() == .on(duty))
                #expect(await pump.state.speed?.pwm == UInt8(duty))
            }
            let temperatures = try await pump.readTemperatures(timeout: Self.patience)
            expect(temperatures, water: RigKind.water, skin: RigKind.skin, kind)
            let status = try await pump.readStatus(timeout: Self.patience)
            #expect(status.power == .on)
            #expect(status.speedPercent == 0)
            expect(status.temperatures, water: RigKind.water, skin: RigKind.skin, kind)
            try await pump.turnOff(timeout: Self.patience)
            #expect(try await rig.motor() == .off)
            #expect(try await pump.readStatus(timeout: Self.patience).power == .off)
            await pump.close()
        }
    }

    @Test("Another program's half line does not swallow a change", arguments: RigKind.allCases)
    func halfLines(kind: RigKind) async throws {
        try await kind.run { rig in
            let pump = try await rig.session()
            for half in ["FOO", "O", "ON", "SPEED:25", "SPEED:2", "999", String(repeating: "X", count: 50)] {
                try await pump.link.send(Array(half.utf8))
                try await pump.turnOn(timeout: Self.patience)
                #expect(try await rig.motor() == .on(180), "\(half)")
                try await pump.link.send(Array(half.utf8))
                try await pump.setSpeed(try #require(PumpSpeed(pwm: 178)), timeout: Self.patience)
                #expect(try await rig.motor() == .on(178), "\(half)")
            }
            try await pump.turnOff(timeout: Self.patience)
            await pump.close()
        }
    }

    /// Expects temperatures within 0.15 °C, which is more than one count of the converter.
    private func expect(
        _ temperatures: PumpTemperatures, water: Double, skin: Double, _ kind: RigKind,
        _ location: SourceLocation = #_sourceLocation
    ) {
        func isNear(_ reading: ThermistorReading?, _ celsius: Double) -> Bool {
            reading.map { abs($0.celsius - celsius) <= 0.15 } ?? false
        }
        #expect((temperatures.single != nil) == (kind.thermistors == 1), sourceLocation: location)
        #expect(isNear(temperatures.single ?? temperatures.skin, skin), "\(temperatures)", sourceLocation: location)
        guard kind.thermistors == 2 else { return }
        #expect(isNear(temperatures.water, water), "\(temperatures)", sourceLocation: location)
    }

    @Test("A refusal has the pump's error code and changes nothing", arguments: RigKind.allCases)
    func refusals(kind: RigKind) async throws {
        try await kind.run { rig in
            let pump = try await rig.session()
            let speed = try #require(PumpSpeed(pwm: 9))
            try await expectRefusal("PUMP_NOT_RUNNING") { try await pump.setSpeed(speed, timeout: Self.patience) }
            try await pump.turnOn(timeout: Self.patience)
            try await rig.setSkin(41)
            try await rig.run(for: .seconds(1))
            // The session may send this command before it has received the pump's ERROR:OVERHEAT.
            try await expectRefusal("PUMP_START_FAILED") { try await pump.turnOn(timeout: Self.patience) }
            try await expectRefusal("PUMP_NOT_RUNNING") { try await pump.setSpeed(speed, timeout: Self.patience) }
            #expect(await pump.state.power == .error)
            #expect(try await rig.motor() == .off)
            try await rig.setSkin(34)
            try await pump.turnOff(timeout: Self.patience)
            try await pump.turnOn(timeout: Self.patience)
            #expect(await pump.state.power == .on)
            await pump.close()
        }
    }

    private func expectRefusal(
        _ code: String, _ location: SourceLocation = #_sourceLocation, _ command: () async throws -> Void
    ) async throws {
        let error = await #expect(throws: SessionError.self, sourceLocation: location) { try await command() }
        #expect(error?.code == .refused, sourceLocation: location)
        #expect(error?.deviceCode == code, sourceLocation: location)
        #expect(error?.outcome == .nothingChanged, sourceLocation: location)
    }

    @Test("Reports between a command and its reply are not taken for the reply", arguments: RigKind.allCases)
    func interleaving(kind: RigKind) async throws {
        try await kind.run { try await interleave($0) }
    }

    @Test("Reports within a reply are not taken for parts of it", arguments: [1, 2])
    func interruption(thermistors: Int) async throws {
        let rig = try await SimulatedRig(thermistors: thermistors, interruptsReplies: true)
        try await interleave(rig)
        await rig.stop()
    }

    /// Sends commands, and in each round moves the pump's clock forward by 4.7 s, so that its reports, one every 5 s,
    /// come at different moments of a command.
    private func interleave(_ rig: any PumpRig) async throws {
        let pump = try await rig.session()
        let events = await pump.events()
        try await pump.turnOn(timeout: Self.patience)
        for round in 0..<20 {
            async let moving: Void = rig.moveClock(by: .milliseconds(4700))
            let speed = try #require(PumpSpeed(pwm: round * 12))
            try await pump.setSpeed(speed, timeout: Self.patience)
            let status = try await pump.readStatus(timeout: Self.patience)
            #expect(status.power == .on)
            #expect(status.speedPercent.map(Int.init) == speed.percent)
            _ = try await pump.readTemperatures(timeout: Self.patience)
            try await moving
            #expect(try await rig.motor() == .on(round * 12))
        }
        try await pump.turnOff(timeout: Self.patience)
        await pump.close()
        var reports = 0
        for await event in events {
            guard case .heard(.status(let status)) = event else { continue }
            #expect(status.power == .on)
            reports += 1
        }
        // In 94 s there are 18 reports, one per 5 s. A few of them count as the reply to STATUS.
        #expect(reports >= 10, "\(reports)")
    }

    @Test("The button sends an event and changes the state, and SPEED works after it", arguments: RigKind.allCases)
    func button(kind: RigKind) async throws {
        try await kind.run { rig in
            let pump = try await rig.session()
            let heard = await pump.gatherEvents()
            try await rig.pressButton()
            try await heard.event("MANUAL:ON") { $0 == .manual(isOn: true) }
            #expect(await pump.state.power == .on)
            #expect(await pump.state.lastControl == .manual)
            #expect(try await rig.motor() == .on(180))
            try await pump.setSpeed(try #require(PumpSpeed(pwm: 90)), timeout: Self.patience)
            #expect(await pump.state.lastControl == .app)
            #expect(try await rig.motor() == .on(90))
            try await rig.pressButton()
            try await heard.event("MANUAL:OFF") { $0 == .manual(isOn: false) }
            #expect(await pump.state.power == .unknown)
            #expect(try await pump.readStatus(timeout: Self.patience).power == .off)
            #expect(try await rig.motor() == .off)
            try await expectRefusal("PUMP_NOT_RUNNING") {
                try await pump.setSpeed(try #require(PumpSpeed(pwm: 90)), timeout: Self.patience)
            }
            await pump.close()
        }
    }

    @Test("The potentiometer sets the speed if it is turned by more than 5", arguments: RigKind.allCases)
    func potentiometer(kind: RigKind) async throws {
        try await kind.run { rig in
            let pump = try await rig.session()
            // While the pump is off, the knob is not read.
            try await rig.setPotentiometer(1023)
            try await rig.run(for: .seconds(1))
            #expect(try await rig.motor() == .off)
            try await rig.setPotentiometer(716)
            try await pump.turnOn(timeout: Self.patience)
            try await pump.setSpeed(try #require(PumpSpeed(pwm: 40)), timeout: Self.patience)
            // Readings below 20 mean a speed of 0, and readings from 20 to 1023 a speed from 10 to 255. At boot the
            // pump assumes 716, which means 180. Readings from 692 to 740 mean a speed within 5 of that: no change.
            for (reading, duty) in [
                (716, 40), (736, 40), (696, 40), (741, 186), (512, 130), (20, 10), (19, 0), (0, 0), (1023, 255),
                (1003, 255), (999, 249), (998, 249), (21, 10), (40, 10), (45, 16),
            ] {
                try await rig.setPotentiometer(reading)
                try await rig.run(for: .seconds(1))
                #expect(try await rig.motor() == .on(duty), "at \(reading)")
            }
            // A report with an earlier speed may still be in flight, and would count as the reply to STATUS. The reply
            // to TEMP comes after it.
            _ = try await pump.readTemperatures(timeout: Self.patience)
            #expect(try await pump.readStatus(timeout: Self.patience).speedPercent == 6)
            await pump.close()
        }
    }

    @Test("Skin above 40.0 °C stops a running pump", arguments: RigKind.allCases)
    func overheat(kind: RigKind) async throws {
        try await kind.run { rig in
            let pump = try await rig.session()
            let heard = await pump.gatherEvents()
            // While the pump is off, there is nothing to stop.
            try await rig.setSkin(42)
            try await rig.run(for: .seconds(1))
            #expect(try await pump.readStatus(timeout: Self.patience).power == .off)
            try await rig.setSkin(39.9)
            try await pump.turnOn(timeout: Self.patience)
            try await rig.run(for: .seconds(1))
            #expect(try await rig.motor() == .on(180))
            try await rig.setSkin(40.2)
            try await rig.run(for: .seconds(1))
            try await heard.event("ERROR:OVERHEAT") { $0 == .error(.overheat) }
            // AVR's printf has no `%f`, and prints `?` instead.
            try await heard.event("its text") { $0 == .text("Skin temperature too high: ?C") }
            #expect(try await rig.motor() == .off)
            #expect(await pump.state.power == .error)
            #expect(await !pump.state.isSafetyShutOff)
            #expect(try await pump.readStatus(timeout: Self.patience).power == .error)
            await pump.close()
        }
    }

    @Test("The pump stops after 30 minutes, ON restarts that time, and OFF recovers", arguments: RigKind.allCases)
    func safetyShutOff(kind: RigKind) async throws {
        try await kind.run { rig in
            let pump = try await rig.session()
            let heard = await pump.gatherEvents()
            try await pump.turnOn(timeout: Self.patience)
            try await rig.moveClock(by: .seconds(29 * 60 + 45))
            #expect(try await pump.readStatus(timeout: Self.patience).power == .on)
            try await pump.turnOn(timeout: Self.patience)
            try await rig.moveClock(by: .seconds(29 * 60 + 45))
            #expect(try await pump.readStatus(timeout: Self.patience).power == .on)
            #expect(try await rig.motor() == .on(180))
            try await rig.moveClock(by: .seconds(20))
            try await heard.event("ERROR:SAFETY_SHUTOFF") { $0 == .error(.safetyShutoff) }
            try await heard.event("its text") { $0 == .text("Maximum runtime exceeded") }
            #expect(try await rig.motor() == .off)
            #expect(await pump.state.isSafetyShutOff)
            #expect(try await pump.readStatus(timeout: Self.patience).power == .error)
            try await expectRefusal("PUMP_START_FAILED") { try await pump.turnOn(timeout: Self.patience) }
            try await pump.turnOff(timeout: Self.patience)
            #expect(try await pump.readStatus(timeout: Self.patience).power == .off)
            try await pump.turnOn(timeout: Self.patience)
            #expect(try await pump.readStatus(timeout: Self.patience).runtimeMinutes == 0)
            await pump.close()
        }
    }

    @Test("Runtime and remaining time are truncated to minutes", arguments: RigKind.allCases)
    func minutes(kind: RigKind) async throws {
        try await kind.run { rig in
            let pump = try await rig.session()
            try await pump.turnOn(timeout: Self.patience)
            var passed = 0
            for (minutes, seconds) in [
                (0, 40), (1, 20), (1, 40), (5, 20), (14, 40), (15, 20), (28, 40), (29, 20), (29, 40),
            ] {
                let time = minutes * 60 + seconds
                try await rig.moveClock(by: .seconds(time - passed))
                passed = time
                // Earlier reports may be in flight, and would count as the reply to STATUS. The reply to TEMP, which is
                // never unsolicited, comes after them.
                _ = try await pump.readTemperatures(timeout: Self.patience)
                let status = try await pump.readStatus(timeout: Self.patience)
                #expect(status.runtimeMinutes.map(Int.init) == minutes)
                #expect(status.remainingMinutes.map(Int.init) == 29 - minutes)
            }
            await pump.close()
        }
    }

    @Test("A reset stops the pump and sends the banner", arguments: RigKind.allCases)
    func reset(kind: RigKind) async throws {
        try await kind.run { rig in
            let pump = try await rig.session()
            try await pump.turnOn(timeout: Self.patience)
            let heard = await pump.gatherEvents()
            try await rig.reset()
            try await heard.event("the banner") { $0 == .text("Ready for commands...") }
            #expect(try await rig.motor() == .off)
            #expect(try await pump.readStatus(timeout: Self.patience).power == .off)
            try await pump.turnOn(timeout: Self.patience)
            #expect(try await rig.motor() == .on(180))
            await pump.close()
        }
    }
}

extension PumpRig {
    /// Begins a session, and waits until it has handled the pump's earlier output.
    func session() async throws -> PumpSession {
        let link = try await link()
        let session = try await PumpSession.begin(over: link, clock: ContinuousClock())
        _ = try await session.readTemperatures(timeout: PumpSessionBenchTests.patience)
        return session
    }
}

extension Session where Family == PumpFamily {
    /// Begins to collect the pump's unsolicited messages.
    func gatherEvents() async -> Watched<[PumpMessage]> {
        let heard = Watched<[PumpMessage]>([])
        let events = events()
        Task {
            for await event in events {
                if case .heard(let message) = event { heard.update { $0.append(message) } }
            }
        }
        return heard
    }
}

extension Watched where State == [PumpMessage] {
    /// Waits for a message that `isWanted` accepts; discards it and the messages before it.
    ///
    /// - Parameter what: The message in words, for the failure after a time-out.
    func event(_ what: String, _ isWanted: @Sendable (PumpMessage) -> Bool) async throws {
        _ = try await wait(for: what) { messages -> Bool? in
            guard let index = messages.firstIndex(where: isWanted) else { return nil }
            messages.removeSubrange(...index)
            return true
        }
    }
}
