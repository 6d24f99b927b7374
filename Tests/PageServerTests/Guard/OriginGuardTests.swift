import NIOHTTP1
import Testing

@testable import PageServer

@Suite("Guard against requests of other sites")
struct OriginGuardTests {
    private let own = OriginGuard(port: 8080, names: ["bench.example"])

    private func code(_ origin: OriginGuard, _ headers: (String, String)...) -> String? {
        do throws(Problem) { try origin.check(HTTPHeaders(headers)) } catch { return error.code }
        return nil
    }

    @Test(
        "The server's own names are accepted",
        arguments: [
            "localhost:8080", "LOCALHOST:8080", "127.0.0.1:8080", "127.5.6.7:8080", "[::1]:8080",
            "[0:0:0:0:0:0:0:1]:8080", "bench.example", "bench.example:443",
        ])
    func ownNames(host: String) { #expect(code(own, ("Host", host)) == nil) }

    @Test(
        "Other spellings of 'Host' are refused",
        arguments: [
            "evil.example:8080", "localhost", "localhost:80", "localhost:8081", "localhost.:8080",
            "localhost.evil.example:8080", "evil@localhost:8080", "127.1:8080", "2130706433:8080", "0x7f.0.0.1:8080",
            "0177.0.0.1:8080", "127.0.0.1.evil.example:8080", "0.0.0.0:8080", "[::]:8080", "[::ffff:127.0.0.1]:8080",
            "[::1%lo]:8080", "::1:8080", "[127.0.0.1]:8080", "localhost:8080:8080", "localhost:+8080", "localhost:",
            "localhost:99999999999999999999", "192.168.0.1:8080", "", ":8080", "bench.example.evil.example",
        ])
    func foreignNames(host: String) { #expect(code(own, ("Host", host)) == "wrong_host") }

    @Test("A request without 'Host', or with two, is refused")
    func countOfHosts() {
        #expect(code(own) == "wrong_host")
        #expect(code(own, ("Host", "localhost:8080"), ("Host", "localhost:8080")) == "wrong_host")
    }

    @Test("The default port may be omitted if it is the server's")
    func defaultPort() {
        let server = OriginGuard(port: 80, names: [])
        #expect(code(server, ("Host", "localhost")) == nil)
        #expect(code(server, ("Host", "localhost:80")) == nil)
        #expect(code(server, ("Host", "localhost:8080")) == "wrong_host")
    }

    @Test(
        "Requests of other origins are refused",
        arguments: [
            ("Origin", "null"), ("Origin", "http://localhost:8081"), ("Origin", "http://localhost"),
            ("Origin", "https://localhost:8080"), ("Origin", "http://127.0.0.1:8080"),
            ("Origin", "http://evil.example:8080"), ("Origin", "localhost:8080"), ("Origin", ""),
            ("Origin", "http://localhost:8080/"), ("Origin", "http://localhost:8080.evil.example"),
            ("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", ""),
        ])
    func foreignOrigins(header: (String, String)) {
        #expect(code(own, ("Host", "localhost:8080"), header) == "wrong_origin")
    }

    @Test("The page's own requests are accepted")
    func ownOrigins() {
        #expect(
            code(
                own, ("Host", "localhost:8080"), ("Origin", "http://localhost:8080"), ("Sec-Fetch-Site", "same-origin"))
                == nil)
        #expect(code(own, ("Host", "localhost:8080"), ("Sec-Fetch-Site", "none")) == nil)
        #expect(code(own, ("Host", "bench.example"), ("Origin", "https://bench.example")) == nil)
        let origin = ("Origin", "http://localhost:8080")
        #expect(code(own, ("Host", "localhost:8080"), origin, origin) == "wrong_origin")
    }

    @Test("On a Unix socket, a reverse proxy may use any port and TLS")
    func unixSocket() {
        let server = OriginGuard(port: nil, names: ["bench.example"])
        #expect(code(server, ("Host", "bench.example"), ("Origin", "https://bench.example")) == nil)
        #expect(code(server, ("Host", "localhost:1234"), ("Origin", "http://localhost:1234")) == nil)
        #expect(code(server, ("Host", "evil.example")) == "wrong_host")
    }
}
