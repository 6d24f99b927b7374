import DescriptorIO
import DeviceTestKit
import LineProtocol
import Synchronization
import TestSupport
import Testing

@testable import Sharing

@Suite("Many clients of one pump", .timeLimit(.minutes(5)))
struct ManyClientsTests {
    /// A client that sends each command as soon as the previous one is complete, and compares its input with its
    /// commands.
    private final class Talker: Sendable {
        let name: String
        let channel: DescriptorChannel
        /// The far end of the channel, to which the device writes.
        private let told: DescriptorChannel
        let lines: AsyncStream<String>
        let source: AsyncStream<String>.Continuation
        let number: Int

        init(_ number: Int, _ channel: DescriptorChannel, _ told: DescriptorChannel) {
            (name, self.number, self.channel, self.told) = ("client \(number)", number, channel, told)
            (lines, source) = AsyncStream.makeStream(of: String.self)
        }

        func listen() async {
            let framer = Mutex(LineFramer(limit: 1024))
            await channel.forward { [source] arrival in
                guard case .success(let bytes?) = arrival else { return source.finish() }
                framer.withLock { framer in
                    framer.append(bytes.span) { line, _ in
                        source.yield(line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
                    }
                }
            }
        }

        /// Writes the mark `(line)` to the client's input, which means that `line` gets no reply.
        func mark(_ line: [UInt8]) {
            _ = try? told.writeAtOnce(Array("(".utf8) + line + Array(")\n".utf8))
        }

        /// Sends `count` commands; returns the input lines that match none of them.
        func talk(_ count: Int, seed: UInt64, countsAnswers answered: Watched<Int>) async throws -> [String] {
            var random = SplitMix64(seed: seed)
            var wrong: [String] = []
            var history: [String] = []
            var heard = lines.makeAsyncIterator()
            for _ in 0..<count {
                let command = command(&random)
                history.append("> " + command.line)
                try await channel.write(Array((command.line + "\n").utf8))
                var rest = command.answers[...]
                var isAway = false
                while !rest.isEmpty || isAway, let line = await heard.next() {
                    history.append(line)
                    if line == "[WARNING] the device is back" { isAway = false }
                    if line.hasPrefix("[WARNING]") || line.hasPrefix("STATUS:") && rest.first != "STATUS:" { continue }
                    // STATUS gets no reply, but an unsolicited status was already taken for it.
                    if line == "(STATUS)", rest.first != "STATUS:" { continue }
                    if line == "ERROR:DEVICE_AWAY" { isAway = true }
                    // The line is refused, or gets no reply. A STATUS command's second line is still to be answered.
                    if line == "ERROR:DEVICE_AWAY" || line == "ERROR:OVERTAKEN" || line.hasPrefix("(") {
                        rest = rest.first == "STATUS:" ? rest.dropFirst() : []
                        continue
                    }
                    if line == "ERROR:PUMP_NOT_RUNNING", command.line.hasPrefix("SPEED") {
                        rest = []
                        continue
                    }
                    if line.hasPrefix(rest.first ?? "") {
                        rest.removeFirst()
                        if rest.isEmpty { answered.update { $0 += 1 } }
                    } else {
                        wrong.append("\(name): \(line) to \(command.line), behind \(history.suffix(16))")
                        break
                    }
                }
            }
            return wrong
        }

        private func command(_ random: inout SplitMix64) -> (line: String, answers: [String]) {
            switch random.number(below: 8) {
            case 0: ("ON", ["OK", "PUMP:ON"])
            case 1 where number == 0: ("OFF", ["OK", "PUMP:OFF"])
            case 1, 2: ("TEMP", ["TEMP:"])
            // The pump also sends unsolicited status lines; only the error after a status proves that the status
            // was requested.
            case 3: ("STATUS\nWHAT\(number)", ["STATUS:", "ERROR:UNKNOWN_COMMAND"])
            case 4: ("WHAT\(number)", ["ERROR:UNKNOWN_COMMAND"])
            default: speed(random.number(below: 25) * 10 + number)
            }
        }

        /// A speed that no other client sends.
        private func speed(_ speed: Int) -> (line: String, answers: [String]) {
            ("SPEED:\(speed)", ["OK", "SPEED:\(speed)"])
        }
    }

    @Test("Each of five clients gets only its own answers in 10,000 commands with 50 unpluggings")
    func tenThousand() async throws {
        let talkers = Mutex<[Talker]>([])
        let pump = try SharedPump { event in
            guard case .failed(let line, let name, _) = event else { return }
            talkers.withLock { $0.first { $0.name == name } }?.mark(line)
        }
        try await pump.run {
            try await pump.untilUp()
            for number in 0..<5 {
                let (ours, theirs) = try DescriptorChannel.pair()
                let talker = Talker(number, ours, theirs)
                talkers.withLock { $0.append(talker) }
                _ = await pump.device.join(theirs, talker.name, .connection)
                await talker.listen()
            }
            let (answered, done) = (Watched(0), Watched(0))
            let wrong = try await withThrowingTaskGroup(of: [String].self) { group in
                for talker in talkers.withLock({ $0 }) {
                    group.addTask {
                        defer { done.update { $0 += 1 } }
                        return try await talker.talk(2000, seed: UInt64(talker.number), countsAnswers: answered)
                    }
                }
                var unpluggings = 0
                while done.state < 5 {
                    await settle()
                    pump.clock.advance(by: .milliseconds(100))
                    // Unplugs the pump after every 120 answered commands.
                    if answered.state > (unpluggings + 1) * 120 {
                        unpluggings += 1
                        await pump.unplug()
                        try await pump.untilDown()
                        pump.plug()
                        try await pump.untilUp()
                    }
                }
                #expect(unpluggings >= 50)
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(wrong == [])
            #expect(answered.state > 5000)
        }
    }
}
