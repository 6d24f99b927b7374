import ArgumentParser
import DeviceKit
import Foundation
import FoundationXML
import TestSupport
import Testing
import Transports

@testable import pumpctl

@Suite("User documentation")
struct DocumentationTests {
    @Test("README links to every page in docs")
    func pagesAreLinked() throws {
        let readme = try MarkdownPage("README.md")
        let linked = Set(readme.links.map { readme.destination(of: $0) })
        for page in try MarkdownPage.forUsers() where page.path != "README.md" {
            #expect(linked.contains(page.path))
        }
    }

    @Test("Every link leads to a file, and every anchor to a heading")
    func links() throws {
        let pages = try MarkdownPage.all()
        #expect(pages.count > 10)
        for page in pages {
            for link in page.links {
                let destination = page.destination(of: link)
                #expect(
                    FileManager.default.fileExists(atPath: MarkdownPage.root.appending(path: destination).path),
                    "\(page.path): \(link.target)")
                guard let anchor = link.anchor else { continue }
                let target = try #require(pages.first { $0.path == destination }, "\(page.path): \(link.target)")
                #expect(target.anchors.contains(anchor), "\(page.path): \(link.target)#\(anchor)")
            }
        }
    }

    @Test("Every file and folder named on a page exists")
    func paths() throws {
        let folders = ["Benchmarks/", "Examples/", "Sources/", "Tests/", "docs/", "hardware/", "scripts/"]
        for page in try MarkdownPage.forUsers() {
            for span in page.codeSpans where folders.contains(where: span.hasPrefix) {
                #expect(
                    FileManager.default.fileExists(atPath: MarkdownPage.root.appending(path: span).path),
                    "\(page.path): \(span)")
            }
        }
    }

    @Test("Every make target named on a page exists")
    func makes() throws {
        let rules = try MarkdownPage.text("Makefile")
        for page in try MarkdownPage.forUsers() {
            for arguments in Self.lines(of: page).flatMap({ ShellLine($0).arguments(of: "make") }) {
                #expect(rules.contains("\n\(arguments[0]):"), "\(page.path): make \(arguments[0])")
            }
        }
    }

    @Test("The table in docs/library.md has every library")
    func libraries() throws {
        let page = try MarkdownPage("docs/library.md")
        let products = try MarkdownPage.text("Package.swift").matches(of: /\.library\(name: "(\w+)", targets/)
        #expect(products.count > 5)
        for product in products {
            #expect(page.prose.contains { $0.hasPrefix("| `\(product.1)` |") }, "\(product.1)")
        }
    }

    @Test("The program in docs/library.md and the example follow-pump make the same calls")
    func program() throws {
        let page = try MarkdownPage("docs/library.md")
        let program = try #require(page.blocks.first { $0.kind == "swift" }).lines.joined(separator: "\n")
        let example = try MarkdownPage.text("Examples/Sources/follow-pump/main.swift")
        for call in [
            "LinkSchemes.families.open(endpoint)", "PumpMonitor(over: link, Reconnector(endpoint, link)",
            "for try await update in monitor", "update.event", "update.state.power",
        ] {
            #expect(program.contains(call))
            #expect(example.contains(call))
        }
    }

    @Test("The tests in docs/library.md are those of the examples")
    func testsOfTheLibrary() throws {
        let blocks = try MarkdownPage("docs/library.md").blocks.filter { $0.kind == "swift" }
        for (word, example) in [
            ("ScriptedLink", "Scale/Tests/ScaleTests/ScaleTests.swift"),
            ("LinkContract", "Sources/check-link/main.swift"),
        ] {
            let block = try #require(blocks.first { $0.lines.contains { $0.contains(word) } })
            let lines = try MarkdownPage.text("Examples/\(example)").split(separator: "\n").map {
                $0.drop { $0 == " " }
            }
            for line in block.lines { #expect(lines.contains(line.drop { $0 == " " }), "\(example): \(line)") }
        }
    }

    @Test("The article of each library begins with its description in docs/library.md")
    func articles() throws {
        let page = try MarkdownPage("docs/library.md")
        for row in page.prose.compactMap({ $0.wholeMatch(of: /\| `(\w+)` \| (.*) \|/) }) {
            let article = try MarkdownPage.text("Sources/\(row.1)/\(row.1).docc/\(row.1).md")
            let beginning = article.split(separator: "\n\n").prefix(2).map { $0.replacing("\n", with: " ") }
            #expect(beginning == ["# ``\(row.1)``", row.2.prefix(1).uppercased() + row.2.dropFirst() + "."])
        }
    }

    @Test("No page makes promises or describes missing features")
    func promises() throws {
        let phrases = [
            "coming soon", "does not exist", "do not exist", "fixme", "for now", "future release", "future version",
            "is missing yet", "it will", "later release", "later version", "not implemented", "not supported",
            "not yet",
            "planned", "some day", "todo", "upcoming", "will be", "will come",
        ]
        for page in try MarkdownPage.all() {
            let words = page.prose.joined(separator: " ").lowercased()
                .split { !$0.isLetter && !$0.isNumber && $0 != "'" }.joined(separator: " ")
            let said = phrases.filter { " \(words) ".contains(" \($0) ") }
            #expect(said.isEmpty, "\(page.path): \(said)")
        }
    }

    @Test("The table of exit codes matches the program")
    func exitCodes() throws {
        let page = try MarkdownPage("docs/exit-codes.md")
        let listed = page.prose.compactMap { $0.firstMatch(of: /^\| (\d+) \|/).flatMap { Int32($0.1) } }
        #expect(listed == (0...255).filter { ExitStatus(rawValue: $0) != nil })
    }
}

// MARK: - Commands

extension DocumentationTests {
    /// The shell commands of a page: the lines of its scripts, the commands of its terminal transcripts, and its code
    /// spans of `pumpctl` and `make`.
    private static func lines(of page: MarkdownPage) -> [String] {
        let spans = page.codeSpans.filter { $0.hasPrefix("pumpctl ") || $0.hasPrefix("make ") }
        return spans
            + page.blocks.flatMap { block -> [String] in
                switch block.kind {
                case "sh", "sh run": block.lines
                case "console": block.lines.filter { $0.hasPrefix("$ ") }.map { String($0.dropFirst(2)) }
                default: []
                }
            }
    }

    @Test("Every pumpctl command on a page is shown by help, and its arguments are valid")
    func commands() async throws {
        let grammar = try await Grammar()
        var count = 0
        for page in try MarkdownPage.forUsers() + [MarkdownPage("packaging/manual/examples.md")] {
            for arguments in Self.lines(of: page).flatMap({ ShellLine($0).arguments(of: "pumpctl") }) {
                let line = "\(page.path): pumpctl \(arguments.joined(separator: " "))"
                let read = CommandLine(arguments)
                #expect(throws: Never.self, "\(line)") { try read.check() }
                #expect(grammar.root.shown(read.path) != nil, "\(line): help does not show it")
                do {
                    _ = try read.parsed()
                    for (word, next) in zip(arguments, arguments.dropFirst()) where word == "--port" || word == "-p" {
                        try Self.checkEndpoint(next)
                    }
                } catch is CleanExit {
                    // The command has --help: there is nothing more to check.
                } catch {
                    Issue.record("\(line): \(PumpctlCommand.message(for: error))")
                }
                count += 1
            }
        }
        #expect(count > 80)
    }

    @Test("Every option and command named on a page is shown by help")
    func spans() async throws {
        let root = try await Grammar().root
        let options = try await root.allOptions.union(Grammar(of: Executable.pumpctld).root.allOptions)
            .union(["--help", "--version", "--generate-completion-script"])
        for page in try MarkdownPage.forUsers() {
            for span in page.codeSpans {
                let words = span.split(separator: " ").map(String.init)
                for word in words where word.hasPrefix("--") {
                    #expect(options.contains(String(word.prefix { $0 != "=" })), "\(page.path): \(span)")
                }
                let names = words.prefix { !$0.hasPrefix("-") }
                guard let first = names.first, names.allSatisfy({ $0.allSatisfy(\.isLetter) && $0.lowercased() == $0 }),
                    root.shown([first]) != nil
                else { continue }
                #expect(root.shown(names) != nil, "\(page.path): \(span)")
            }
        }
    }

    @Test("No page uses the former names of commands, such as 'say' instead of 'peer say'")
    func olderNames() throws {
        let older = ["log", "say", "toggle", "image", "message"]
        for page in try MarkdownPage.forUsers() {
            for arguments in Self.lines(of: page).flatMap({ ShellLine($0).arguments(of: "pumpctl") }) {
                #expect(!older.contains { CommandLine(arguments).path.first == $0 }, "\(page.path): \(arguments)")
            }
            for span in page.codeSpans {
                #expect(!older.contains { span.hasPrefix($0 + " ") }, "\(page.path): \(span)")
            }
        }
    }
}

// MARK: - Endpoints

extension DocumentationTests {
    /// Throws an error if an endpoint is invalid, also in its options for BLE or USB.
    private static func checkEndpoint(_ text: String) throws {
        let endpoint = try Endpoint(text)
        switch endpoint.scheme {
        case "ble": _ = try BLEEndpoint(endpoint, among: .families)
        case "usb": _ = try USBEndpoint(endpoint)
        default: break
        }
    }

    /// Runs pumpctl with an invalid endpoint, and returns the hint of its error.
    private static func hint(on endpoint: String) async throws -> String {
        let object = try await Pumpctl.run("--json", "--port", endpoint, "send", "X").object()
        return try #require(object["hint"] as? String)
    }

    @Test("docs/endpoints.md names every scheme and its options")
    func endpoints() async throws {
        let page = try MarkdownPage("docs/endpoints.md")
        let known = try await Self.hint(on: "nosuch:x").components(separatedBy: " one of: ").last ?? ""
        let schemes = known.split(separator: " ").map(String.init)
        #expect(schemes.count > 5)
        for scheme in schemes {
            #expect(page.codeSpans.contains { $0.hasPrefix(scheme) }, "\(scheme)")
        }
        for endpoint in ["serial:/dev/null", "usb:1a86:7523", "ble:x", "sim:module"]
            + FamilyRow.all.map({ "sim:\($0.family)" })
        {
            let hint = try await Self.hint(on: endpoint + "?nosuch=1")
            let options = try #require(hint.components(separatedBy: " takes the options ").dropFirst().first, "\(hint)")
            // Each simulator's options must be in its own row of the table. Other options may be anywhere on the page.
            let spans = endpoint.hasPrefix("sim:") ? Self.spans(in: page, besides: endpoint) : page.codeSpans
            for option in options.components(separatedBy: ", ") {
                #expect(spans.contains { $0 == option || $0.hasPrefix(option + "=") }, "\(endpoint): \(option)")
            }
        }
    }

    /// The code spans in the table row that begins with `first`.
    private static func spans(in page: MarkdownPage, besides first: String) -> [String] {
        page.prose.filter { $0.hasPrefix("| `\(first)` |") }
            .flatMap { $0.matches(of: /`([^`]+)`/).map { String($0.1) } }
    }

    @Test("Every endpoint named on a page is valid")
    func endpointSpans() throws {
        for page in try MarkdownPage.forUsers() {
            for span in page.codeSpans where span.contains(/^(ble|serial|shared|sim|tcp|unix|usb):[^ …]+$/) {
                #expect(throws: Never.self, "\(page.path): \(span)") { try Self.checkEndpoint(span) }
            }
        }
    }
}

// MARK: - Executed examples

extension DocumentationTests {
    /// The pages whose transcripts and scripts are run.
    private static let pagesThatRun = [
        "README.md", "docs/exit-codes.md", "docs/scenarios.md", "docs/simulator-reference.md", "docs/simulators.md",
        "docs/verify.md",
    ]

    @Test("Terminal transcripts match the output of their commands", arguments: pagesThatRun)
    func transcripts(path: String) async throws {
        let transcript = Transcript(try MarkdownPage(path))
        #expect(!transcript.steps.isEmpty)
        let steps = try await transcript.run(in: TemporaryFolder())
        #expect(steps.count == transcript.steps.count)
        for (shown, now) in zip(transcript.steps, steps) {
            #expect(
                shown.output.map(Transcript.masked) == now.output.map(Transcript.masked),
                "\(path): $ \(now.command)\n\(now.output.joined(separator: "\n"))")
        }
    }

    @Test("Only the pages that are run have transcripts and runnable scripts")
    func pagesWithoutTerminal() throws {
        for page in try MarkdownPage.forUsers() where !Self.pagesThatRun.contains(page.path) {
            #expect(!page.blocks.contains { $0.kind == "console" || $0.kind == "sh run" }, "\(page.path)")
        }
    }

    @Test("The script in docs/simulators.md works, and its simulator ends")
    func script() async throws {
        let page = try MarkdownPage("docs/simulators.md")
        let lines = try #require(page.blocks.first { $0.kind == "sh run" }).lines.joined(separator: "\n")
        // The script's last line ends the simulator, which removes the link a moment later.
        let ending = try await Transcript.run(
            script: """
                set -e
                \(lines)
                for attempt in $(seq 600); do test -L /tmp/pump || exit 0; sleep 0.05; done; exit 9
                """, in: TemporaryFolder())
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.contains("pump on at"))
        #expect(ending.output.contains("STATUS:{State:ON"))
    }

    @Test("The script in docs/exit-codes.md distinguishes the exit codes")
    func exitCodeScript() async throws {
        let page = try MarkdownPage("docs/exit-codes.md")
        let script = try #require(page.blocks.first { $0.kind == "sh run" }).lines.joined(separator: "\n")
        let ending = try await Transcript.run(script: "set -e\n" + script, in: TemporaryFolder())
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.hasSuffix("stopped for safety\n"))
    }
}

// MARK: - Pictures

extension DocumentationTests {
    /// The texts in an SVG picture.
    private static func texts(in picture: String) -> [String] {
        picture.matches(of: />([^<]+)<\/text>/).map { String($0.1) }
    }

    @Test("Every SVG picture is well-formed")
    func pictures() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: MarkdownPage.root.appending(path: "docs").path)
        let pictures = files.filter { $0.hasSuffix(".svg") }
        #expect(pictures.count > 2)
        for picture in pictures {
            let parser = XMLParser(data: Data(try MarkdownPage.text("docs/\(picture)").utf8))
            #expect(parser.parse(), "\(picture): \(parser.parserError.map { "\($0)" } ?? "")")
        }
    }

    @Test("Screenshots match the program's output (scripts/screenshots renews them)")
    func screenshots() async throws {
        let folder = TemporaryFolder()
        let script = MarkdownPage.root.appending(path: "scripts/screenshots").path
        let ending = try await Transcript.bash(
            "python3 \(script) --into \(folder.path) --seconds 8 \(Executable.pumpctl)", home: folder)
        #expect(ending.status == 0, "\(ending)")
        // On a busy machine this run may show more lines than the picture, but every line of the picture must be shown.
        let monitor = Self.texts(in: try String(contentsOfFile: folder.path("monitor.svg"), encoding: .utf8))
        for text in Self.texts(in: try MarkdownPage.text("docs/monitor.svg")).map(Transcript.masked) {
            #expect(monitor.map(Transcript.masked).contains(text), "\(text)")
        }
        // This run may be shorter than the picture's, so that its axes have other numbers.
        let plots = [
            try String(contentsOfFile: folder.path("plot.svg"), encoding: .utf8),
            try MarkdownPage.text("docs/plot.svg"),
        ].map { plot in
            Set(Self.texts(in: plot).filter { $0.contains(where: \.isLetter) }.map { $0.replacing(/\d/, with: "0") })
        }
        #expect(plots[0] == plots[1])
    }
}
