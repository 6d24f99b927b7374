import Glibc
import TestSupport
import Testing

@testable import pumpctl

@Suite("pumpctl page")
struct PageCommandTests {
    @Test(
        "page passes its options to pumpctl-page, which serves at port 8080 and opens a browser unless asked otherwise",
        arguments: [
            ("page", "--http 8080 --open"), ("page --http [::1]:9", "--http [::1]:9 --open"),
            ("page --sessions", "--sessions"), ("page --revoke all", "--revoke all"),
            ("page --code --see", "--code --see"), ("page --code --http 9", "--http 9 --code"),
            ("page --see", "--http 8080 --see --open"), ("page --captures /c", "--http 8080 --captures /c --open"),
        ])
    func arguments(line: String, passed: String) throws {
        let command = try CommandLine(line.split(separator: " ").map(String.init)).parsed()
        #expect(try #require(command as? PageCommand).arguments.joined(separator: " ") == passed)
    }

    @Test("pumpctl-page replaces pumpctl, with its output and exit code")
    func program() async throws {
        let folder = TemporaryFolder()
        let (page, pumpctl) = (folder.path("pumpctl-page"), folder.path("pumpctl"))
        // pumpctl looks for pumpctl-page in its own folder, so this runs a copy in a folder without one.
        try await ChildProcess(["cp", "--reflink=auto", Executable.pumpctl, pumpctl]).ending()
        expectFailure(
            try await ChildProcess([pumpctl, "page"]).ending(), 69, saying: "pumpctl-page is not installed",
            hint: "make install")
        try #require(symlink("/bin/echo", page) == 0)
        let echo = try await ChildProcess([pumpctl, "page", "--code"]).ending()
        #expect(echo.output == "--code\n" && echo.status == 0, "\(echo)")
        try #require(unlink(page) == 0 && symlink("/bin/false", page) == 0)
        #expect(try await ChildProcess([pumpctl, "page"]).ending().status == 1)
    }
}
