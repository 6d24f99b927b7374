import DescriptorIO
import Glibc
import TestSupport
import Testing

@Suite("pumpctl-page", .timeLimit(.minutes(5)))
struct PageServingTests {
    private let folder = TemporaryFolder()

    private var environment: [String: String] {
        ChildProcess.surroundings.merging(
            ["XDG_RUNTIME_DIR": folder.path, "XDG_STATE_HOME": folder.path("state")]
        ) { $1 }
    }

    @Test("The page finds a second daemon of this user, whose socket is named after its process")
    func secondDaemon() async throws {
        let daemon = try await FakeDaemon([], in: folder)
        try #require(mkdir(folder.path("pumpctl"), 0o700) == 0)
        try #require(symlink(daemon.socketPath, folder.path("pumpctl/pumpctld-7")) == 0)
        let page = try await ChildProcess([Executable.pumpctlPage, "--http", "127.0.0.1:0"], environment: environment)
        let serving = try await page.errors.text(upTo: "\n").dropLast()
        let port = try #require(serving.split(separator: ":").last.flatMap { UInt16($0) })
        // `pumpctl-page --code` knows the port of the page that runs.
        let login = try await ChildProcess([Executable.pumpctlPage, "--code"], environment: environment).ending()
        #expect(login.output.hasPrefix("http://127.0.0.1:\(port)/#"))
        let code = try #require(login.output.dropLast().split(separator: "#").last)
        let body = #"{"code":"\#(code)"}"#
        let session = try await ask(
            port, "POST /api/v1/session", "Content-Type: application/json", "Content-Length: \(body.utf8.count)",
            body: body)
        let token = try #require(session.split(separator: #""token":""#).last?.split(separator: "\"").first)
        async let devices = ask(port, "GET /api/v1/devices", "Authorization: Bearer \(token)")
        _ = try await daemon.heard.wait(for: "a request") { $0.first }
        await daemon.close()
        _ = try await devices
        page.send(signal: SIGTERM)
        #expect(try await page.ending().status == 0)
    }

    /// Sends a request to the page; returns the whole response.
    private func ask(_ port: UInt16, _ request: String, _ headers: String..., body: String = "") async throws -> String
    {
        let channel = try await DescriptorChannel.connect(
            to: .tcp(host: "127.0.0.1", port: port), deadline: .now + patience)
        let head = ["\(request) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"] + headers
        try await channel.write(Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
        var response: [UInt8] = []
        while let bytes = try? await channel.read() { response += bytes }
        return String(decoding: response, as: UTF8.self)
    }

    @Test("A page at a Unix socket, which no browser reaches, is not opened in one")
    func socketIsNotOpened() async throws {
        let page = try await ChildProcess(
            [Executable.pumpctlPage, "--http", "unix:" + folder.path("http"), "--open"], environment: environment)
        try await page.errors.text(upTo: "no browser was opened")
        // Printed at once, although standard output is no terminal.
        #expect(try await page.output.line().hasPrefix("/#"))
        page.send(signal: SIGTERM)
        _ = try await page.ending()
        #expect(access(folder.path("state/pumpctl-page/sessions.html"), F_OK) != 0)
    }

    @Test("If only a part of the file of sessions can be written, the system's reason is reported")
    func sessionsInPart() async throws {
        // The limit, in blocks of the shell, stands for a full disk: the system takes a part, and then refuses the rest.
        let script = "trap '' XFSZ; ulimit -f 1; while \"$0\" --code >/dev/null; do :; done; exec \"$0\" --code"
        let ending = try await ChildProcess(
            ["/bin/sh", "-c", script, Executable.pumpctlPage], environment: environment
        ).ending()
        expectFailure(ending, 74, saying: "can't use the file of sessions", String(cString: strerror(EFBIG)), hint: "")
    }

    @Test(
        "A file of sessions that the user may not read is reported as a missing permission",
        .enabled(if: geteuid() == 0, "only root can start a program as another user"),
        arguments: ["--sessions", "--code"])
    func sessionsOfAnother(option: String) async throws {
        try folder.makeFolder("state")
        #expect(chmod(folder.path, 0o755) == 0 && chmod(folder.path("state"), 0o700) == 0)
        try await ChildProcess(["cp", Executable.pumpctlPage, folder.path("pumpctl-page")]).ending()
        let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        let ending = try await ChildProcess(
            nobody + [folder.path("pumpctl-page"), option], environment: environment
        ).ending()
        expectFailure(ending, 77, saying: "can't use the file of sessions", hint: "")
    }
}
