import Glibc
import RecordFormat
import TestSupport
import Testing

@testable import PageServer

@Suite("File of sessions")
struct SessionFileTests {
    private let folder = TemporaryFolder()
    private let start = RecordTime(milliseconds: 1_800_000_000_000)

    private func file() -> SessionFile { SessionFile(path: folder.path("state/page/sessions")) }

    private func after(_ seconds: Double) -> RecordTime {
        RecordTime(secondsSince1970: start.secondsSince1970 + seconds)
    }

    @Test("A code is exchanged for a session once")
    func exchange() throws {
        var (server, command) = (file(), file())
        let code = try command.add(isCode: true, mayCommand: true, at: start)
        #expect(try server.session(of: code, isCode: false, at: start) == nil)
        let (session, token) = try #require(try server.exchange(code: code, at: after(299)))
        #expect(session.scope == .command)
        #expect(try server.exchange(code: code, at: after(299)) == nil)
        #expect(try command.exchange(code: code, at: after(299)) == nil)
        #expect(try command.session(of: token, isCode: false, at: after(300)) == session)
        #expect(try server.exchange(code: token, at: after(300)) == nil)
    }

    @Test("A code ends after five minutes, and a session after 30 days")
    func ends() throws {
        var file = file()
        let code = try file.add(isCode: true, mayCommand: false, at: start)
        #expect(try file.exchange(code: code, at: after(300)) == nil)
        let token = try #require(try file.exchange(code: code, at: after(299))).token
        #expect(try file.session(of: token, isCode: false, at: after(30 * 86_400 + 298))?.scope == .see)
        #expect(try file.session(of: token, isCode: false, at: after(30 * 86_400 + 299)) == nil)
    }

    @Test("Only the whole token is accepted")
    func wrongTokens() throws {
        var file = file()
        let token = try file.add(isCode: false, mayCommand: true, at: start)
        let other = try file.add(isCode: false, mayCommand: true, at: start)
        var changed = Array(token)
        changed[changed.count - 1] = changed.last == "0" ? "1" : "0"
        let wrong: [String] = [
            "", ".", String(token.dropLast()), "\(token)0", String(token.prefix(9)), String(changed), " \(token)",
            token.uppercased(), "\(token.prefix(9))\(other.dropFirst(9))", "\(token)\n",
        ]
        // In the second round, the right token has been accepted before.
        for _ in 0..<2 {
            for wrong in wrong where wrong != token {
                #expect(try file.session(of: wrong, isCode: false, at: start) == nil, "\(wrong)")
            }
            #expect(try file.session(of: token, isCode: false, at: start) != nil)
        }
    }

    @Test("Another program's changes count at once")
    func revoke() throws {
        var (server, command) = (file(), file())
        let tokens = try (0..<3).map { _ in try command.add(isCode: false, mayCommand: true, at: start) }
        let sessions = try tokens.map { try #require(try server.session(of: $0, isCode: false, at: start)) }
        #expect(try command.revoke(sessions[1].id, at: start) == 1)
        #expect(try command.revoke(sessions[1].id, at: start) == 0)
        #expect(try server.session(of: tokens[1], isCode: false, at: start) == nil)
        #expect(try server.session(of: tokens[2], isCode: false, at: start) == sessions[2])
        #expect(try command.revoke("all", at: start) == 2)
        #expect(try server.current(at: start) == [])
    }

    @Test("The file has only a hash of the secret, and the mode 0600")
    func content() throws {
        var file = file()
        let token = try file.add(isCode: false, mayCommand: true, at: start)
        let secret = try #require(Session.parts(of: token)).secret
        #expect(!String(decoding: folder.read("state/page/sessions"), as: UTF8.self).contains(secret))
        var status = stat()
        #expect(stat(file.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test("A file that other users can read is refused")
    func wrongMode() throws {
        var file = file()
        let token = try file.add(isCode: false, mayCommand: true, at: start)
        chmod(file.path, 0o640)
        let failure = #expect(throws: SessionFile.Failure.self) {
            try file.session(of: token, isCode: false, at: start)
        }
        #expect(failure?.code == .wrongMode)
        chmod(file.path, 0o600)
        #expect(try file.session(of: token, isCode: false, at: start) != nil)
    }

    @Test("The folder of a relative path is created in the present folder")
    func relativePath() throws {
        let name = "pumpctl-test-\(getpid())"
        SessionFile(path: "\(name)/sessions").makeFolder()
        #expect(rmdir(name) == 0)
        #expect(rmdir("/\(name)") != 0)
    }

    @Test("A damaged line leaves the other sessions valid")
    func damage() throws {
        var file = file()
        let token = try file.add(isCode: false, mayCommand: true, at: start)
        let lines = String(decoding: folder.read("state/page/sessions"), as: UTF8.self)
        _ = folder.write("{\"id\":\n\n\(lines)x\n", to: "state/page/sessions")
        #expect(try file.session(of: token, isCode: false, at: start) != nil)
    }

    @Test("After the clock was set back, a session does not count")
    func clockSetBack() throws {
        var file = file()
        let token = try file.add(isCode: false, mayCommand: true, at: start)
        // A minute is tolerated, because clocks are corrected by small amounts.
        #expect(try file.session(of: token, isCode: false, at: after(-60)) != nil)
        #expect(try file.session(of: token, isCode: false, at: after(-61)) == nil)
    }

    @Test("A session that can't be added leaves the others valid")
    func unwritable() throws {
        var file = file()
        let token = try file.add(isCode: false, mayCommand: true, at: start)
        // A folder in the place of the new file can't be replaced.
        try folder.makeFolder("state/page/sessions.new")
        #expect(throws: SessionFile.Failure.self) { try file.add(isCode: false, mayCommand: true, at: start) }
        #expect(try file.session(of: token, isCode: false, at: start) != nil)
    }
}
