import FoundationEssentials
import Synchronization
import TestSupport

/// The committed table of outcomes and that of this run, with a section for each family and carrier.
enum OutcomeTable {
    /// The section of this run for a family and a carrier.
    struct Section: Sendable {
        let title: String
        var rows: [String] = []

        mutating func add(_ cell: FaultCell, _ counts: OutcomeCounts) {
            let numbers = [counts.done, counts.recovered, counts.reported, counts.undetectable].map { "\($0)" }
            add([cell.text] + numbers)
        }

        /// Adds a fault that does not apply, with the reason.
        mutating func add(senseless fault: String, _ reason: String) { add([fault, "–", "–", "–", "–", reason]) }

        private mutating func add(_ cells: [String]) {
            let cells = cells + Array(repeating: "", count: 6 - cells.count)
            rows.append("| " + cells.joined(separator: " | ").trimmed + " |")
        }

        var text: String {
            let head = [
                "| fault | done | recovered | reported | undetectable | why not |",
                "| --- | --- | --- | --- | --- | --- |",
            ]
            return (["## \(title)", ""] + head + rows).joined(separator: "\n") + "\n"
        }
    }

    private static let path =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        .joined(separator: "/") + "/outcomes.md"

    /// The committed table with each differing section replaced by this run's; nil if none differs so far.
    private static let changed = Mutex<String?>(nil)

    /// Compares a section with the committed one, and writes a table with the new section if they differ.
    ///
    /// - Returns: The path of the written table; nil if the sections are equal.
    static func difference(of section: Section) -> String? {
        let committed = read(path)
        guard self.section(section.title, of: committed) != section.text else { return nil }
        let place = "/tmp/pumpctl-outcomes.md"
        changed.withLock { changed in
            let table = changed ?? committed
            let old = self.section(section.title, of: table)
            let new = old.isEmpty ? table + "\n" + section.text : table.replacing(old, with: section.text)
            changed = new
            try? Data(new.utf8).write(to: URL(filePath: place))
        }
        return place
    }

    private static func section(_ title: String, of table: String) -> String {
        guard let start = table.range(of: "## \(title)\n")?.lowerBound else { return "" }
        let rest = table[start...]
        return String(rest.range(of: "\n\n## ").map { rest[..<$0.lowerBound] + "\n" } ?? rest)
    }

    private static func read(_ path: String) -> String {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

extension String {
    fileprivate var trimmed: String { String(reversed().drop { $0 == " " }.reversed()) }

    fileprivate func range(of text: String) -> Range<String.Index>? { firstRange(of: text) }
}

extension Substring {
    fileprivate func range(of text: String) -> Range<String.Index>? { firstRange(of: text) }
}
