import Foundation

/// A page of documentation, with the parts that tests need.
struct MarkdownPage {
    /// A fenced block of code.
    struct Block {
        /// The text after the fence: `sh`, `sh run`, `console`, …
        var kind: String
        var lines: [String] = []
    }

    /// A link, or an image.
    struct Link: Hashable {
        /// The target without its anchor; empty for the page itself.
        var target: String
        /// The text after the `#`; nil if there is none.
        var anchor: String?
    }

    /// The folder of the repository.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The path relative to the repository's root.
    let path: String
    private(set) var blocks: [Block] = []
    /// The lines outside of blocks.
    private(set) var prose: [String] = []
    /// The texts of the headings, with their Markdown.
    private(set) var headings: [String] = []

    init(_ path: String) throws {
        self.path = path
        var block: Block?
        for line in try Self.text(path).components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                if let ended = block { blocks.append(ended) }
                block = block == nil ? Block(kind: String(line.dropFirst(3))) : nil
            } else if block != nil {
                block?.lines.append(line)
            } else {
                prose.append(line)
                if let heading = line.firstMatch(of: /^#{1,6} +(.*)$/) { headings.append(String(heading.1)) }
            }
        }
    }

    /// Returns the text of a file, whose path is relative to the repository's root.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Returns the pages for users: README.md and the pages in docs.
    static func forUsers() throws -> [MarkdownPage] {
        let docs = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "docs").path)
        return try (["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" })
            .map(MarkdownPage.init)
    }

    /// Returns all pages of the repository.
    static func all() throws -> [MarkdownPage] {
        let files = FileManager.default.enumerator(
            at: root, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        let prefix = root.path.hasSuffix("/") ? root.path : root.path + "/"
        return try (files?.compactMap { ($0 as? URL)?.path } ?? []).filter { $0.hasSuffix(".md") }.sorted()
            .map { try MarkdownPage(String($0.dropFirst(prefix.count))) }
    }

    /// The possible anchors of links: the headings' texts as GitHub converts them, and every `<a id="…">`.
    var anchors: Set<String> {
        var anchors = Set(marks)
        for heading in headings {
            let text = heading.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.1 }.lowercased()
            let base = text.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
            let names = sequence(first: 0) { $0 + 1 }.lazy.map { $0 == 0 ? base : "\(base)-\($0)" }
            if let free = names.first(where: { !anchors.contains($0) }) { anchors.insert(free) }
        }
        return anchors
    }

    /// The names of all `<a id="…">`, in order.
    var marks: [String] { prose.flatMap { $0.matches(of: /<a id="([^"]+)">/).map { String($0.1) } } }

    /// Returns the rows of the first table below `heading` that has the column `column`. The keys are the names of the
    /// columns. Empty if there is no such table.
    func rows(below heading: String, of column: String) -> [[String: String]] {
        func cells(_ line: String) -> [String] {
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        let section = prose.drop { !($0.hasPrefix("#") && $0.hasSuffix("# " + heading)) }
        let table = section.drop { !($0.hasPrefix("|") && cells($0).contains(column)) }.prefix { $0.hasPrefix("|") }
        guard let head = table.first.map(cells) else { return [] }
        return table.dropFirst(2).map { Dictionary(zip(head, cells($0)), uniquingKeysWith: { first, _ in first }) }
    }

    /// The texts between back quotes, outside of blocks.
    var codeSpans: [String] { prose.flatMap { $0.matches(of: /`([^`]+)`/).map { String($0.1) } } }

    /// The links to files of the repository.
    var links: Set<Link> {
        let targets = prose.flatMap { line in
            line.replacing(/`[^`]*`/, with: "").matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
        }
        return Set(
            targets.filter { !$0.contains("://") }.map { target in
                let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                return Link(target: String(parts[0]), anchor: parts.count > 1 ? String(parts[1]) : nil)
            })
    }

    /// The target of a link, relative to the repository's root.
    func destination(of link: Link) -> String {
        guard !link.target.isEmpty else { return path }
        var steps = Array(path.split(separator: "/").dropLast())
        for step in link.target.split(separator: "/") where step != "." {
            if step == ".." { _ = steps.popLast() } else { steps.append(step) }
        }
        return steps.joined(separator: "/")
    }
}
