import DescriptorIO
import DeviceKit
import DeviceTestKit
import Glibc
import Logging
import TestSupport
import Testing

@testable import pumpctld

@Suite("Running the page for browsers", .timeLimit(.minutes(5)))
struct PageProgramTests {
    private let folder = TemporaryFolder()
    private let clock = ManualClock()
    private let log = Watched(ReceivedText())

    private var logger: Logger {
        Logger(label: "pumpctld") { [log] _ in
            LineLogHandler(.journal, level: .info) { line in log.update { $0.bytes += Array(line.utf8) } }
        }
    }

    /// Runs a script in place of `pumpctl-page`.
    private func run(_ script: String) -> Task<Void, Never> {
        let page = PageProgram(
            CompanionProgram(path: "/bin/sh"), ["-c", script], on: .shared, log: logger, clock: clock)
        return Task(executorPreference: EventLoop.shared) { await page.run() }
    }

    @Test(
        "A page that would end in the same way each time is reported once, with its last message and a hint",
        arguments: [
            (64, "correct [http]"), (77, "give this user access"), (78, "chmod 600"),
        ])
    func lasting(status: Int, hint: String) async throws {
        await run("echo one; echo 'pumpctl-page: two' >&2; printf '  hint: x'; exit \(status)").value
        let lines = log.state.text.split(separator: "\n")
        #expect(
            lines.dropLast() == [
                "<6>pumpctl-page line=one", "<6>pumpctl-page line=\"pumpctl-page: two\"",
                "<6>pumpctl-page line=\"  hint: x\"",
            ])
        #expect(lines.last?.hasPrefix("<3>the page is not served; the devices are hint=\"") == true, "\(lines)")
        #expect(lines.last?.contains(hint) == true, "\(lines)")
        #expect(lines.last?.hasSuffix("reason=\"pumpctl-page: two\" status=\(status)") == true, "\(lines)")
    }

    @Test("A page that ends is started again after growing pauses, which start over after a long run")
    func restarts() async throws {
        let gate = folder.path("gate")
        try #require(mkfifo(gate, 0o600) == 0)
        let page = run("echo up; read line <'\(gate)'; exit 3")
        /// Lets the page end, after it has run for `time`.
        func end(after time: Duration) async throws {
            try await log.text(upTo: "<6>pumpctl-page line=up\n")
            clock.advance(by: time)
            let writer = try await ChildProcess(["/bin/sh", "-c", "echo >'\(gate)'"])
            #expect(try await writer.ending().status == 0)
            try await log.text(upTo: "<4>the page has ended; starting it again reason=up status=3\n")
        }
        var now = Duration.zero
        // Each run's time, and the pause after it, in seconds. A run of at least 60 s counts as long.
        for (time, pause) in [(59, 1), (0, 2), (0, 4), (60, 1), (0, 2)] {
            try await end(after: .seconds(time))
            now += .seconds(time + pause)
            await clock.untilSomebodySleeps(until: now)
            clock.advance(by: .seconds(pause))
        }
        try await end(after: .zero)
        await clock.untilSomebodySleeps(until: now + .seconds(4))
        page.cancel()
        await page.value
    }

    @Test("The page has a session of its own, and ends by SIGTERM with the daemon")
    func termination() async throws {
        // The sixth field of stat is the session ID: that of a session leader is its process ID.
        let page = run("cut -d' ' -f6 /proc/$$/stat; echo $$; echo up; read line")
        let lines = try await log.text(upTo: "line=up\n").split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == lines[1], "\(lines)")
        page.cancel()
        await page.value
        #expect(clock.deadlines == [])
        let process = try #require(lines[1].split(separator: "=").last.flatMap { pid_t($0) })
        #expect(kill(process, 0) != 0)
        #expect(log.state.text == "")
    }

    @Test("A page that ignores SIGTERM is killed after 3 s")
    func killing() async throws {
        let page = run("trap '' TERM; echo up; read line")
        try await log.text(upTo: "line=up\n")
        page.cancel()
        await clock.untilSomebodySleeps(until: .seconds(3))
        clock.advance(by: .seconds(3))
        await page.value
        #expect(log.state.text == "")
    }

    @Test("The end of the page does not wait for programs that the page has started")
    func grandchild() async throws {
        let gate = folder.path("gate")
        try #require(mkfifo(gate, 0o600) == 0)
        await run("echo up; cat '\(gate)' & exit 64").value
        try await log.text(upTo: "<3>the page is not served")
        let writer = try await ChildProcess(["/bin/sh", "-c", "echo >'\(gate)'"])
        #expect(try await writer.ending().status == 0)
    }

    @Test("The daemon serves the page until that has ended, as the page may have a pump to switch off")
    func order() async throws {
        let script = folder.write(
            "#!/bin/sh\ntrap '[ -S \"$4\" ] && echo served; exit' TERM\necho up; read line\n", to: "page")
        chmod(script, 0o700)
        let configuration = try DaemonConfiguration(
            toml: """
                daemon.socket = "\(folder.path("daemon"))"
                http.listen = "8080"
                device.pump.endpoint = "\(folder.path("none"))"
                """)
        let daemon = try Daemon(
            configuration, on: .shared, log: logger, manager: nil, page: CompanionProgram(path: script))
        let run = Task(executorPreference: EventLoop.shared) { try await daemon.run() }
        try await log.text(upTo: "<6>pumpctl-page line=up\n")
        run.cancel()
        try await run.value
        #expect(try await log.text(upTo: "<5>ended\n").contains("<6>pumpctl-page line=served\n"))
    }

    @Test(
        "The page gets the daemon's socket; without a page, the devices are shared all the same",
        arguments: [
            ("/bin/echo", "<6>pumpctl-page line=\"--http 127.0.0.1:8080 --socket SOCKET --host bench.example\""),
            ("/nowhere/pumpctl-page", "<3>the page is not served; the devices are hint="),
        ])
    func daemon(program: String, expected: String) async throws {
        let (socket, share) = (folder.path("daemon"), folder.path("share"))
        let configuration = try DaemonConfiguration(
            toml: """
                [daemon]
                socket = "\(socket)"
                [http]
                listen = "8080"
                hosts = ["bench.example"]
                [device.pump]
                endpoint = "\(folder.path("none"))"
                unix = "\(share)"
                """)
        let daemon = try Daemon(
            configuration, on: .shared, log: logger, manager: nil, page: CompanionProgram(path: program))
        let run = Task(executorPreference: EventLoop.shared) { try await daemon.run() }
        try await log.text(upTo: expected.replacing("SOCKET", with: socket))
        let client = try await ShareClient(socket: share)
        try await client.ask("ON", for: "ERROR:DEVICE_AWAY\r\n")
        run.cancel()
        try await run.value
        try await log.text(upTo: "<5>ended\n")
        await client.channel.close()
    }
}
