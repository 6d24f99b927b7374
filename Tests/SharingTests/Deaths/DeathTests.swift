import DeviceTestKit
import FakeBlueZ
import LineProtocol
import StrictJSON
import Testing
import TestSupport

@testable import Sharing

@Suite("Crashes around a shared pump on BLE", .timeLimit(.minutes(10)))
struct DeathTests {
    /// The fault of a moment: see ``count``. From the start of the moment, a stopped client reads nothing. Any other
    /// fault strikes when a certain packet is written to the pump, or at the latest after OFF.
    private enum Fate: CaseIterable {
        case clientKilled, clientStopped, bluetoothdKilled, bluetoothdKilledTwice, bluetoothdStopped
    }

    /// A client's knowledge after it has sent OFF.
    private enum Knowledge {
        /// The pump has acknowledged OFF.
        case acknowledged
        /// OFF was not sent, or its outcome is unknown.
        case failed
    }

    /// The number of moments per seed. In a moment, one client sends commands, another sends OFF, a ``Fate`` strikes,
    /// and then the clients' information is compared with the pump. The number is chosen, not measured.
    private static let count = 11

    @Test(
        "Clients see the true state after crashes, and an acknowledged OFF holds", arguments: Array(Seeds(8, soak: 200))
    )
    func moments(seed: UInt64) async throws {
        let world = try await MortalWorld()
        try await world.run {
            let moments = try await Moments(world, seed: seed)
            for number in 0..<Self.count {
                let fate = Fate.allCases[moments.random { $0.number(below: Fate.allCases.count) }]
                try await moments.pass(fate, "seed \(seed), moment \(number), \(fate)")
            }
            #expect(moments.acknowledgements.state > 0)
        }
    }

    /// The moments of one seed. Two clients stay connected through all of them: `watcher` at the share for lines, and
    /// `subscriber` at the control socket.
    private final class Moments: Sendable {
        let acknowledgements = Watched(0)
        private let world: MortalWorld
        private let numbers: Watched<SplitMix64>
        private let watcher: HeardClient
        private let subscriber: HeardClient

        init(_ world: MortalWorld, seed: UInt64) async throws {
            self.world = world
            numbers = Watched(SplitMix64(seed: seed))
            (watcher, subscriber) = (try await world.client(), try await world.program())
            await subscriber.say("{\"id\":1,\"do\":\"subscribe\",\"events\":[\"state\"]}\n")
            try await world.untilUp()
        }

        func random<Value: Sendable>(_ body: @Sendable (inout SplitMix64) -> Value) -> Value { numbers.update(body) }

        // MARK: A moment

        func pass(_ fate: Fate, _ name: String) async throws {
            let commander = try await world.client(isStopped: fate == .clientStopped)
            let stopper = try await world.client()
            let restarts = Watched(0)
            let presses = random { $0.number(below: 3) == 0 }
            let wanted = fate == .bluetoothdKilledTwice ? 2 : fate == .bluetoothdKilled ? 1 : 0
            let packet = random { 1 + $0.number(below: 6) }
            world.strike(at: packet, isDelivered: random { $0.number(below: 2) == 0 }) { [world] in
                switch fate {
                case .clientKilled: Task { await commander.die() }
                case .clientStopped: break
                case .bluetoothdKilled, .bluetoothdKilledTwice:
                    Task {
                        try await world.fake.restart { if presses { await world.pressButtonIfOn() } }
                        restarts.update { $0 += 1 }
                    }
                case .bluetoothdStopped: world.stopRadio()
                }
            }
            // The stopper's OFF, further below, comes before, during or after the event, and may undo these commands.
            let orders = random { random in (0..<1 + random.number(below: 4)).map { _ in Self.order(&random) } }
            // A stopped client leaves many replies unread.
            if fate == .clientStopped { await commander.say(String(repeating: "STATUS\n", count: 100)) }
            await commander.say(orders.joined() + (fate == .clientKilled ? "SPEED:2" : ""))
            for _ in 0..<random({ $0.number(below: 12) }) { await world.step() }
            let isLate = random { $0.number(below: 3) == 0 }
            if isLate { world.strikeNow() }
            await settle()
            let stopperStart = stopper.lines.count
            await stopper.say("OFF\n")
            for _ in 0..<random({ $0.number(below: 50) }) { await world.step() }
            world.strikeNow()
            for _ in 0..<random({ $0.number(below: 50) }) { await world.step() }
            world.resumeRadio()
            if wanted > 0 { try await world.until("bluetoothd is back") { restarts.state >= 1 } }
            if wanted > 1 {
                // bluetoothd is killed again, while the shared device is reconnecting or when it is up again.
                let calls = await world.fake.calls
                let count = calls.state.count + random { 1 + $0.number(below: 8) }
                try await world.until("it is called") {
                    let isUp = await world.device.isUp
                    return isUp || calls.state.count >= count
                }
                try await world.fake.restart()
            }
            if fate == .clientStopped { await commander.goOn() }
            try await judge(stopper, from: stopperStart, name)
            await commander.die()
            await stopper.die()
        }

        private static func order(_ random: inout SplitMix64) -> String {
            switch random.number(below: 6) {
            case 0, 1: "ON\n"
            case 2: "SPEED:\(60 + random.number(below: 190))\n"
            case 3: "TEMP\n"
            case 4: "STATUS\n"
            default: "NONSENSE\n"
            }
        }

        // MARK: The truth

        /// Compares the lines and events that the stopper and the lasting clients received with the pump's real state.
        private func judge(_ stopper: HeardClient, from start: Int, _ name: String) async throws {
            var knowledge: Knowledge?
            // For at most 200 steps, which are 10 s: an OFF that was sent into a dead link gets no reply.
            try? await world.until("an answer to OFF", steps: 200) {
                knowledge = Self.knowledge(of: stopper.lines.dropFirst(start), stopper.heard.state.hasEnded)
                return knowledge != nil
            }
            if knowledge == .acknowledged {
                acknowledgements.update { $0 += 1 }
                let isOn = await world.isOn()
                #expect(!isOn, "\(name): an acknowledged OFF is not true")
            }
            try await expectTruth(name)
            // A new client's OFF is acknowledged.
            let again = try await world.client()
            try await ask(again, "OFF", for: "PUMP:OFF", name)
            #expect(await !world.isOn(), "\(name)")
            await again.die()
        }

        /// The knowledge from the lines after OFF, and from the end of the connection; nil if there is none yet.
        private static func knowledge(of lines: ArraySlice<String>, _ hasEnded: Bool) -> Knowledge? {
            for line in lines {
                if line == "PUMP:OFF" { return .acknowledged }
                if line.hasPrefix("ERROR:") || line == "[WARNING] the device is away" { return .failed }
            }
            return hasEnded ? .failed : nil
        }

        /// Repeats a line until it gets the reply that begins with `answer`: the link may be lost again, and a line
        /// that is sent into a dead link gets no reply.
        private func ask(_ client: HeardClient, _ line: String, for answer: String, _ name: String) async throws {
            var (isAnswered, attempts) = (false, 0)
            while !isAnswered {
                try await world.untilUp()
                let start = client.lines.count
                await client.say("\(line)\n")
                attempts += 1
                do {
                    try await world.until("\(name): \(answer)", steps: 2_000) {
                        let lines = client.lines.dropFirst(start)
                        isAnswered = lines.contains { $0.hasPrefix(answer) }
                        return isAnswered
                            || lines.contains { $0 == "ERROR:DEVICE_AWAY" || $0 == "[WARNING] the device is away" }
                    }
                } catch {
                    if attempts == 3 { throw error }
                }
            }
        }

        /// Checks the status that the watcher receives, and the states that the subscriber has received, against the
        /// pump.
        private func expectTruth(_ name: String) async throws {
            let start = watcher.lines.count
            try await ask(watcher, "STATUS", for: "STATUS:{", name)
            await world.step()
            let isOn = await world.isOn()
            let status = watcher.lines.last { $0.hasPrefix("STATUS:{") } ?? ""
            #expect(status.hasPrefix(isOn ? "STATUS:{State:ON" : "STATUS:{State:OFF"), "\(name): \(status)")
            let said = world.said.state.text
            for line in watcher.lines.dropFirst(start)
            where !line.hasPrefix("[WARNING] the device") && line != "ERROR:DEVICE_AWAY" {
                #expect(said.contains(line), "\(name): the pump has not said \(line)")
            }
            let states = try subscriber.lines.map { try JSONValue(parsing: $0) }
                .filter { $0["event"] == "state" }
            for state in states where state["link"] == "lost" {
                #expect(state["values"]?["state"] == "unknown", "\(name): \(state.json)")
            }
            let last = states.last
            #expect(last?["link"] == "up", "\(name)")
            #expect(last?["values"]?["state"] == (isOn ? "on" : "off"), "\(name): \(last?.json ?? "")")
        }
    }
}
