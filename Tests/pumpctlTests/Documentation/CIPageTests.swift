import Foundation
import FoundationXML
import TestSupport
import Testing

/// Needs Debian's python3-yaml and python3-serial.
@Suite("Jobs in docs/ci.md", .timeLimit(.minutes(5)))
struct CIPageTests {
    /// The scripts that the tests skip: a text in the script, and the reason.
    private static let leftOut = [
        "apt-get install": "it installs packages of Debian, which 'make test' has installed",
        "git clone": "it builds pumpctl, which is there",
    ]

    private static func isLeftOut(_ script: String) -> Bool { leftOut.keys.contains { script.contains($0) } }

    /// Creates a project folder with the page's two Python files, whose first lines are comments with their names.
    private static func project(_ page: MarkdownPage) throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        let files = page.blocks.filter { $0.kind == "python" }
        try #require(files.count == 2)
        for file in files {
            let name = String(try #require(file.lines.first?.firstMatch(of: /^# (\w+\.py)$/)).1)
            try file.lines.joined(separator: "\n").write(toFile: folder.path(name), atomically: true, encoding: .utf8)
        }
        return folder
    }

    /// Runs a script like a CI server: with `sh -e`, in the project's folder, with more environment variables.
    private static func run(
        _ script: String, in folder: TemporaryFolder, _ environment: [String: String] = [:]
    ) async throws -> ChildProcess.Ending {
        let variables = environment.map { "export \($0)='\($1)'\n" }.joined()
        let path = folder.path(".step")
        try (variables + script).write(toFile: path, atomically: true, encoding: .utf8)
        return try await Transcript.bash("cd '\(folder.path)' && exec sh -e '\(path)'", home: folder)
    }

    /// The counts of a JUnit report, such as `tests` and `failures`: the numeric attributes of its root.
    private static func counts(of name: String, in folder: TemporaryFolder) throws -> [String: Int] {
        final class Reader: NSObject, XMLParserDelegate {
            var counts: [String: Int] = [:]

            func parser(
                _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
                attributes: [String: String]
            ) {
                if name == "testsuites" { counts = attributes.compactMapValues { Int($0) } }
            }
        }
        let (reader, parser) = (Reader(), XMLParser(data: try Data(contentsOf: URL(filePath: folder.path(name)))))
        parser.delegate = reader
        #expect(parser.parse(), "\(name)")
        return reader.counts
    }

    /// Expects that both reports are without failures, and that most of their tests were not skipped: at least 15 of
    /// the checks of the program, and 5 of those of the firmware.
    private static func expectReports(in folder: TemporaryFolder) throws {
        for (name, least) in [("program.xml", 15), ("firmware.xml", 5)] {
            let counts = try counts(of: name, in: folder)
            #expect(counts["failures"] == 0 && counts["errors"] == 0, "\(name): \(counts)")
            #expect((counts["tests"] ?? 0) - (counts["skipped"] ?? 0) >= least, "\(name): \(counts)")
        }
    }

    @Test("Each step of the GitHub job works")
    func github() async throws {
        let page = try MarkdownPage("docs/ci.md")
        let workflow = try await CIJobs.read(page).github
        let (folder, job) = (try Self.project(page), try #require(workflow.jobs["devices"]))
        let path = folder.path(".path")
        var count = 0
        for step in job.steps {
            #expect((step.uses == nil) != (step.run == nil), "\(step)")
            guard let script = step.run, !Self.isLeftOut(script), step.if != "failure()" else { continue }
            let ending = try await Self.run(script, in: folder, ["GITHUB_PATH": path])
            #expect(ending.status == 0, "\(script)\n\(ending)")
            count += 1
        }
        #expect(count == 4)
        try Self.expectReports(in: folder)
        // The build, the cache, and the folder added to PATH belong together, and the cache's key contains the commit.
        let build = try #require(job.steps.compactMap(\.run).first { $0.contains("git clone") })
        let prefix = String(try #require(build.firstMatch(of: /PREFIX=(\S+)/)).1)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == prefix + "/bin\n")
        let cache = try #require(job.steps.first { $0.uses?.hasPrefix("actions/cache@") == true }?.with)
        #expect(cache["path"] == prefix && cache["key"]?.contains("env.PUMPCTL_COMMIT") == true)
        let kept = try #require(job.steps.last)
        #expect(kept.if == "always()" && kept.with?["path"] == "*.xml")
        #expect(Set(workflow.env.keys) == ["PUMPCTL_SOURCE", "PUMPCTL_COMMIT"])
        for name in workflow.env.keys { #expect(build.contains("$\(name)") && page.codeSpans.contains(name)) }
    }

    @Test("The GitLab job works and runs the same commands")
    func gitlab() async throws {
        let page = try MarkdownPage("docs/ci.md")
        let jobs = try await CIJobs.read(page)
        let (folder, job) = (try Self.project(page), try #require(jobs.gitlab["devices"]))
        let scripts = job.beforeScript + job.script
        let ending = try await Self.run(
            scripts.filter { !Self.isLeftOut($0) }.joined(separator: "\n"), in: folder,
            ["PUMPCTL_FOLDER": folder.path(".pumpctl")])
        #expect(ending.status == 0, "\(ending)")
        try Self.expectReports(in: folder)
        #expect(job.artifacts.when == "always")
        #expect(job.artifacts.reports == ["junit": ["program.xml", "firmware.xml"]])
        let github = try #require(jobs.github.jobs["devices"])
        let steps = github.steps.filter { $0.if != "failure()" }.compactMap(\.run)
        for script in job.script { #expect(steps.contains(script), "\(script)") }
        #expect(job.image == github.container)
        #expect(scripts.filter(Self.isLeftOut).count == 2 && steps.filter(Self.isLeftOut).count == 2)
    }

    @Test("A faulty program or firmware fails its step and is counted in the report")
    func faults() async throws {
        let page = try MarkdownPage("docs/ci.md")
        let steps = try #require(try await CIJobs.read(page).github.jobs["devices"]).steps.compactMap(\.run)
        let folder = try Self.project(page)
        for (name, right, wrong, check, report) in [
            ("cool.py", "9600", "19200", "pump.host.plain", "program.xml"),
            ("board.py", "command[4:]", "b\"0\"", "led.on", "firmware.xml"),
        ] {
            let text = try String(contentsOfFile: folder.path(name), encoding: .utf8)
            #expect(text.contains(right))
            try text.replacing(right, with: wrong).write(toFile: folder.path(name), atomically: true, encoding: .utf8)
            let script = try #require(steps.first { $0.contains("> \(report)") })
            let ending = try await Self.run(
                script.replacing(" verify ", with: " verify --only \(check) "), in: folder)
            #expect(ending.status == 2, "\(ending)")
            #expect(try Self.counts(of: report, in: folder)["failures"] ?? 0 > 0)
        }
    }
}
