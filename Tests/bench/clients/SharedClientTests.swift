import DescriptorIO
import TestSupport
import Testing

// Third-party programs and pumpctl as clients of one pump, which pumpctld shares.
@Suite("Bench: other programs at a shared pump", .timeLimit(.minutes(5)))
struct SharedClientTests {
    /// The number of times that the pump is unplugged; chosen, not measured.
    private static let unpluggings = 50
    /// The number of replies, to all clients together, that the test waits for.
    private static let commands = 500

    /// The time limit for the reply to a command. pumpctld gives up a command of which it hears nothing for 3 s, and
    /// then passes on no late reply. On a busy machine this may happen, so a client counts a command without a reply as
    /// lost instead of failing.
    private static let replyTime = Duration.seconds(20)

    /// The state of the test, for all clients.
    private struct Course: Sendable, CustomStringConvertible {
        /// Whether the pump is plugged in. Only then is pumpctl started for another command.
        var isUp = true
        /// Whether the clients must end.
        var isOver = false
        /// The number of replies that each client has had.
        var answered: [String: Int] = [:]
        /// The number of each client's commands that were refused or got no reply.
        var unanswered: [String: Int] = [:]

        var description: String { "answered: \(answered), not: \(unanswered), \(isUp ? "up" : "away")" }
    }

    @Test(
        "pyserial, socat, tio and four pumpctl get only their own replies despite unpluggings",
        .enabled(if: LineProgram.missing.isEmpty, "not installed: \(LineProgram.missing.joined(separator: ", "))"))
    func unplugging() async throws {
        try await DaemonRig.run { rig in
            // The reply to this command comes after the board's banner, so no client receives the banner later.
            #expect(try await rig.pumpctl(["--port", rig.cable.path, "on"]).status == 0)
            let programs = [
                try await LineProgram.pyserial(at: rig.first), try await LineProgram.socat(at: "TCP:\(rig.tcp)"),
                try await LineProgram.tio(at: rig.second),
            ]
            let endpoints = [rig.cable.path, rig.cable.path, "shared:pump", "shared:pump"]
            let course = Watched(Course())
            try await withThrowingTaskGroup { group in
                for (number, program) in programs.enumerated() {
                    group.addTask { try await Self.talk(program, speeds: number * 50..<number * 50 + 50, course) }
                }
                for (number, endpoint) in endpoints.enumerated() {
                    let speeds = 150 + number * 25..<150 + number * 25 + 25
                    group.addTask { try await Self.command(rig, endpoint, number, speeds: speeds, course) }
                }
                group.addTask { try await Self.unplug(rig, clients: programs.count + endpoints.count, course) }
                // The first failure ends all tasks.
                for try await _ in group {}
            }
            #expect(course.state.answered.values.reduce(0, +) >= Self.commands)
            for program in programs { try await program.end() }
        }
    }

    /// Has a program send one command after another, until the test is over. No other client uses these speeds.
    private static func talk(_ program: LineProgram, speeds: Range<Int>, _ course: Watched<Course>) async throws {
        var conversation = SharedConversation()
        var speed = speeds.lowerBound
        func nextSpeed() -> SharedConversation.Question {
            speed = speed + 1 < speeds.upperBound ? speed + 1 : speeds.lowerBound
            return .speed(speed)
        }
        func ask(_ question: SharedConversation.Question) async throws {
            conversation.ask(question)
            try await program.say(question.line)
        }
        while !course.state.isOver {
            for question in [nextSpeed(), .temperatures, nextSpeed(), .unknown(speed)] {
                try Task.checkCancellation()
                try await ask(question)
                while !conversation.isAnswered {
                    let what = "\(program.name)'s answer to \(question.line)"
                    do { try conversation.hear(try await program.line(what, within: replyTime)) } catch is NotInTime {
                        conversation.hearNothing()
                    }
                    if conversation.isInDoubt { try await ask(nextSpeed()) }
                }
                let (answered, unanswered) = (conversation.answered, conversation.refused + conversation.lost)
                course.update { course in
                    course.answered[program.name] = answered
                    course.unanswered[program.name] = unanswered
                }
            }
        }
    }

    /// Starts pumpctl for one command after another, until the test is over: a speed that no other client uses, or
    /// every third time the status.
    private static func command(
        _ rig: DaemonRig, _ endpoint: String, _ number: Int, speeds: Range<Int>, _ course: Watched<Course>
    ) async throws {
        let name = "pumpctl \(number)"
        var speed = speeds.lowerBound
        while true {
            try Task.checkCancellation()
            if try await course.wait(for: "the pump", { $0.isOver ? true : $0.isUp ? false : nil }) { return }
            speed = speed + 1 < speeds.upperBound ? speed + 1 : speeds.lowerBound
            let asksStatus = speed.isMultiple(of: 3)
            let ending = try await rig.pumpctl(
                ["--port", endpoint, "--timeout", "\(replyTime.components.seconds)"]
                    + (asksStatus ? ["status"] : ["speed", "\(speed)"]))
            if ending.status == 0 {
                let wanted = asksStatus ? "pump       on\n" : "speed \(speed) (\(speed * 100 / 255) %)\n"
                #expect(ending.output.hasPrefix(wanted), "\(endpoint): \(ending)")
                course.update { $0.answered[name, default: 0] += 1 }
            } else {
                // 66: no such port. 69: another program was faster to open the port. 74: the link broke. 75: no reply in
                // time. Or the daemon has refused the command.
                let isLost = [66, 69, 74, 75].contains(ending.status) || ending.errors.contains("DEVICE_AWAY")
                #expect(isLost, "\(endpoint): \(ending)")
                course.update { $0.unanswered[name, default: 0] += 1 }
            }
        }
    }

    /// Unplugs the pump and plugs it in again ``unpluggings`` times, each time after every client has had another
    /// reply, and all clients together their share of ``commands``. Then ends the test.
    private static func unplug(_ rig: DaemonRig, clients: Int, _ course: Watched<Course>) async throws {
        let channel = try await DescriptorChannel.connect(
            to: .unix(path: rig.local), deadline: .now.advanced(by: .seconds(30)))
        let received = Watched(ReceivedText())
        await channel.gather(into: received)
        var conversation = SharedConversation()
        /// Waits for a line. Only reports may come in between.
        func hear(_ wanted: String) async throws {
            while true {
                let line = try await received.line(wanted)
                // SPEED:255 below is always refused, so no report may ever show that speed.
                #expect(!line.contains("Speed:100%"))
                try conversation.hear(line)
                if line == wanted { return }
            }
        }
        for number in 1...unpluggings {
            let before = course.state.answered
            let total = commands * number / unpluggings
            _ = try await course.wait(for: "answers to all before unplugging \(number)") { now in
                now.answered.values.reduce(0, +) >= total && now.answered.count == clients
                    && now.answered.allSatisfy { $0.value > before[$0.key, default: 0] } ? true : nil
            }
            course.update { $0.isUp = false }
            await rig.cable.unplug()
            try await hear(SharedConversation.away)
            conversation.ask(.speed(255))
            try await channel.write(Array("SPEED:255\n".utf8))
            try await hear(SharedConversation.refusal)
            try await rig.cable.plug()
            try await hear(SharedConversation.back)
            course.update { $0.isUp = true }
        }
        course.update { $0.isOver = true }
        await channel.close()
    }
}
