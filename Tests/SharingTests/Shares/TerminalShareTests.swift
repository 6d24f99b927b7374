import DescriptorIO
import DeviceTestKit
import FirmwareSim
import Glibc
import SerialPort
import TestSupport
import Testing

@testable import Sharing

@Suite("Devices shared at a pseudo-terminal", .timeLimit(.minutes(5)))
struct TerminalShareTests {
    private static let status = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.0C}"

    /// Calls `body` with a pump and a pseudo-terminal that shares it.
    private static func run(_ body: (SharedPump, TerminalShare) async throws -> Void) async throws {
        let pump = try SharedPump()
        let folder = TemporaryFolder()
        try await pump.run {
            try await pump.untilUp()
            let share = try await TerminalShare.open(pump.device, link: folder.path("pty"))
            let result: Result<Void, any Error>
            do { result = .success(try await body(pump, share)) } catch { result = .failure(error) }
            await share.close()
            try result.get()
        }
    }

    private static func isVisit(_ event: SharingReport.Event, of share: TerminalShare) -> Bool {
        switch event {
        case .came(share.path), .left(share.path): true
        default: false
        }
    }

    /// Waits for at least `count` reports of users that come or leave; returns the number so far.
    @discardableResult
    private static func visits(_ count: Int, of share: TerminalShare, _ pump: SharedPump) async throws -> Int {
        try await pump.reports.wait(for: "\(count) comings and goings") { events in
            let visits = events.count { isVisit($0, of: share) }
            return visits >= count ? visits : nil
        }
    }

    @Test("Successive users of the pseudo-terminal are served, each with reports of coming and leaving")
    func users() async throws {
        try await Self.run { pump, share in
            // A pseudo-terminal that nobody has opened must not be taken for one with a user.
            for _ in 0..<10 { await settle() }
            #expect(try await Self.visits(0, of: share, pump) == 0)
            for number in 1...3 {
                let user = try LineClientEnd(atTerminal: share.path)
                #expect(try await user.ask("STATUS") == [Self.status])
                await user.leave()
                try await Self.visits(2 * number, of: share, pump)
                #expect(await pump.device.clients.isEmpty)
            }
            await settle()
            #expect(try await Self.visits(6, of: share, pump) == 6)
        }
    }

    @Test("The rest of a line longer than the limit is not sent, and the next line is", arguments: [false, true])
    func longLine(inParts: Bool) async throws {
        try await Self.run { pump, share in
            let user = try LineClientEnd(atTerminal: share.path)
            let long = String(repeating: "X", count: SharedDevice.lineLimit + 1)
            if inParts {
                try await user.say(long)
                _ = try await pump.reports.wait(for: "the offence") { events in
                    events.contains { if case .notServed(share.path, _) = $0 { true } else { false } } ? true : nil
                }
                try await user.say("ON\n")
            } else {
                try await user.say(long + "ON\n")
            }
            #expect(try await user.ask("STATUS") == [Self.status])
            #expect(await pump.host.change { pump, _ in !pump.isEnabled })
            await user.leave()
        }
    }

    @Test("A user that only reads receives the device's unsolicited lines")
    func reader() async throws {
        try await Self.run { pump, share in
            let descriptor = open(share.path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
            let reader = LineClientEnd(DescriptorChannel(taking: descriptor, kind: .stream))
            try await Self.visits(1, of: share, pump)
            await pump.host.change { $0.pressButton(at: $1) }
            await pump.host.advance(by: .milliseconds(400))
            #expect(try await reader.line() == "MANUAL:ON")
            await reader.leave()
        }
    }

    @Test("Simultaneous users of the pseudo-terminal count as one client until the last one leaves")
    func together() async throws {
        try await Self.run { pump, share in
            let (first, second) = (
                try LineClientEnd(atTerminal: share.path), try LineClientEnd(atTerminal: share.path)
            )
            #expect(try await first.ask("STATUS") == [Self.status])
            await first.leave()
            #expect(try await second.ask("STATUS") == [Self.status])
            #expect(try await Self.visits(1, of: share, pump) == 1)
            await second.leave()
            #expect(try await Self.visits(2, of: share, pump) == 2)
        }
    }

    @Test("OFF of a user that left at once is sent, and a half line is dropped")
    func brief() async throws {
        try await Self.run { pump, share in
            @Sendable func sentLines(_ events: [SharingReport.Event]) -> [String] {
                events.compactMap { event in
                    if case .sends(let line, _) = event { String(decoding: line, as: UTF8.self) } else { nil }
                }
            }
            for (number, said) in ["SPEED:7\nOFF", "SPEED:8\nOFF\n"].enumerated() {
                // All this happens in one turn of the loop, so the user has left when the loop notices the opening.
                await Task(executorPreference: pump.device.loop) {
                    let user = open(share.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
                    write(user, said, said.utf8.count)
                    close(user)
                }.value
                try await Self.visits(2 * (number + 1), of: share, pump)
                if number == 0 {
                    await settle(pump.device.loop)
                    #expect(!sentLines(pump.reports.state).contains("OFF"))
                }
            }
            let lines = try await pump.reports.wait(for: "OFF") { events in
                let lines = sentLines(events)
                return lines.contains("OFF") ? lines : nil
            }
            #expect(await pump.host.change { pump, _ in !pump.isEnabled })
            #expect(lines.last == "OFF")
        }
    }

    @Test("A user that opens the pseudo-terminal right after another one is answered")
    func quickly() async throws {
        try await Self.run { _, share in
            let unanswered = try await onThread { [path = share.path] in
                (0..<1000).count { _ in
                    let user = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
                    defer { close(user) }
                    write(user, "TEMP\n", 5)
                    var answer: [UInt8] = []
                    while answer.last != 0x0A {
                        var state = pollfd(fd: user, events: CShort(POLLIN), revents: 0)
                        guard poll(&state, 1, 60_000) == 1 else { return true }
                        var bytes = [UInt8](repeating: 0, count: 100)
                        let count = read(user, &bytes, bytes.count)
                        answer += bytes.prefix(max(0, count))
                    }
                    return false
                }
            }
            #expect(unanswered == 0)
        }
    }

    @Test("Unread answers and half lines are not left for the next user")
    func leftovers() async throws {
        try await Self.run { pump, share in
            let first = try LineClientEnd(atTerminal: share.path)
            try await first.say("STATUS\nSPEED:1")
            // Wait for a reply, which this user does not read.
            while await !first.hasArrived { await settle() }
            await first.leave()
            try await Self.visits(2, of: share, pump)
            let next = try LineClientEnd(atTerminal: share.path)
            #expect(try await next.ask("TEMP") == ["TEMP:{Water:12.0C,Skin:34.0C}"])
            await next.leave()
        }
    }

    @Test("Closing the share removes its link and disconnects its users")
    func closing() async throws {
        try await Self.run { pump, share in
            let user = try LineClientEnd(atTerminal: share.path)
            #expect(try await user.ask("STATUS") == [Self.status])
            await share.close()
            #expect(try await user.line() == nil)
            #expect(access(share.path, F_OK) != 0)
            await user.leave()
        }
    }
}

extension LineClientEnd {
    /// Whether there is input.
    fileprivate var hasArrived: Bool {
        get async {
            let count = try? await channel.withDescriptor { descriptor in
                var state = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
                return poll(&state, 1, 0)
            }
            return count == 1
        }
    }
}
