import TestSupport
import Testing

@testable import PageServer

@Suite("Files of the page", .timeLimit(.minutes(5)))
struct PageFilesTests {
    @Test("Scripts are sent without comments that have lines of their own, and keep their line numbers")
    func comments() {
        let script = """
            // One.
            /** Two. */
            const address = "http://host/"; /* Three. */
              /**
               * Four.
               */
              const after = 1 // Five.
            """
        let expected = """


            const address = "http://host/"; /* Three. */



              const after = 1 // Five.
            """
        let sent = PageFiles.withoutComments(Array(script.utf8))
        #expect(String(decoding: sent, as: UTF8.self) == expected)
    }

    @Test("A browser keeps the files of a version, and asks for the page again")
    func caching() async throws {
        try await PageBench.run { bench in
            let page = try await bench.ask("GET", "/")
            #expect(page.head.contains("Cache-Control: no-store\r\n"))
            let text = String(decoding: page.body, as: UTF8.self)
            #expect(!text.contains("VERSION"))
            let version = try #require(text.split(separator: "/page/").last?.prefix { $0 != "/" })
            let script = try await bench.ask("GET", "/page/\(version)/main.js")
            #expect(script.head.contains("Cache-Control: max-age=31536000, immutable\r\n"))
            #expect(script.head.contains("Content-Type: text/javascript\r\n"))
            for path in ["/page/0/main.js", "/page/\(version)/other.js"] {
                let response = try await bench.ask("GET", path)
                #expect(response.code == "no_such_path")
            }
        }
    }
}
