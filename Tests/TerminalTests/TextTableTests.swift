import DescriptorIO
import TestSupport
import Testing

@testable import Terminal

@Suite("Tables")
struct TextTableTests {
    @Test("Columns are as wide as their widest value on a terminal")
    func widths() {
        let table = TextTable(["NAME", "PORT"], [["泵", "1"], ["abcdef", "22"], ["e\u{301}", "3"]])
        #expect(table.lines() == ["NAME    PORT", "泵      1", "abcdef  22", "e\u{301}       3"])
    }

    @Test("Extra cells of a row are left out")
    func longRow() {
        var table = TextTable(["A", "B"])
        table.add(["1", "2", "3"])
        #expect(table.takeLines() == ["A  B", "1  2"])
    }

    @Test("Columns without values and empty headings are left out")
    func leftOut() {
        #expect(TextTable(["A", "B", "C"], [["1", "", "2"]]).lines() == ["A  C", "1  2"])
        #expect(
            TextTable(["", ""], [["water", "12.0 °C"], ["on", "yes"]]).lines() == ["water  12.0 °C", "on     yes"])
        #expect(TextTable(["A"]).lines() == [])
    }

    @Test("A column that gets its first value later appears then, with the headings again")
    func parts() {
        var table = TextTable(["time", "a", "b"])
        var lines: [String] = []
        for number in 0..<5000 {
            table.add(["\(number)", "", number == 3000 ? "much" : ""])
            if table.rowCount == 2000 { lines += table.takeLines() }
        }
        lines += table.takeLines()
        #expect(lines.count == 5002)
        #expect(lines.first == "time")
        #expect(lines.filter { $0.hasPrefix("time") } == ["time", "time  b"])
        #expect(lines.contains("3000  much"))
        #expect(table.takeLines() == [])
    }

    private static let columns: [TextTable.Column] = [
        .init("NAME", least: 8), "ADDRESS", .init("FAMILY", rank: 1),
        .init("SERVICES", least: 10, rank: 1),
    ]

    @Test("The column of the highest rank is dropped first, and dropped columns are counted")
    func ranks() {
        let columns: [TextTable.Column] = ["time", .init("place", rank: 2), .init("a", rank: 1), .init("b", rank: 1)]
        var lines: [String] = []
        for (width, expected, leftOut) in [
            (20, "10:00  here   1  2", 0), (15, "10:00  1  2", 1), (9, "10:00  1", 2), (5, "10:00", 3),
        ] {
            var table = TextTable(columns, [["10:00", "here", "1", "2"]])
            lines = table.takeLines(width: width)
            #expect(lines.last == expected)
            #expect(table.leftOutCount == leftOut)
        }
        #expect(lines == ["time", "10:00"])
    }

    @Test(
        "Text wraps at words, and continuation lines are indented",
        arguments: [
            ("one two three", 20, "one two three"), ("one two three", 8, "one two\n  three"),
            ("  hint: end it first", 12, "  hint: end\n    it first"), ("a\n  bb cc dd", 7, "a\n  bb cc\n    dd"),
            ("a-very-long-word b", 5, "a-very-long-word\n  b"), ("", 5, ""), ("泵泵 泵泵", 6, "泵泵\n  泵泵"),
        ])
    func wrapping(text: String, width: Int, wrapped: String) { #expect(text.wrapped(to: width) == wrapped) }

    @Test(
        "A line that does not fit loses whole parts",
        arguments: [
            (30, "10:00  pump on  water 12.0 °C"), (28, "10:00  pump on …"), (16, "10:00  pump on …"), (15, "10:00 …"),
            (4, "10:…"),
        ])
    func fitting(width: Int, line: String) { #expect("10:00  pump on  water 12.0 °C".fitting(width) == line) }

    @Test(
        "In a narrow table the last column that can shrink shrinks first",
        arguments: [
            (nil, "a long name  00:11:22  pump    HM-10 serial, Battery"),
            (46, "a long name  00:11:22  pump    HM-10 serial, …"), (40, "a long na…  00:11:22  pump    HM-10 ser…"),
            (36, "a long …  00:11:22  pump"), (20, "a long …  00:11:22"), (10, "a long … …"), (0, ""),
        ] as [(Int?, String)])
    func narrowed(width: Int?, line: String) {
        let table = TextTable(Self.columns, [["a long name", "00:11:22", "pump", "HM-10 serial, Battery"]])
        #expect(table.lines(width: width).last == line)
        if let width { #expect(table.lines(width: width).allSatisfy { $0.columns <= width }) }
    }

    @Test("A live table has at most as many rows as the terminal")
    func live() {
        let table = TextTable(["NAME"], (1...20).map { ["Lamp \($0)"] })
        let lines = LiveTable.lines(of: table, or: "scanning…", columns: 79, rows: 10)
        #expect(lines.count == 10)
        #expect(lines.last == "… and 12 more")
        #expect(LiveTable.lines(of: table, or: "", columns: 79, rows: nil).count == 21)
        #expect(LiveTable.lines(of: TextTable(["NAME"]), or: "scanning…", columns: 5, rows: 10) == ["scan…"])
    }

    @Test("A live table that has ended is not drawn again")
    func ended() async {
        let drawn = Watched("")
        let table = LiveTable(placeholder: "scanning…", on: .shared) { text in drawn.update { $0 += text } }
        await table.end()
        await table.show(TextTable(["NAME"], [["Lamp"]]))
        #expect(drawn.state == "")
    }
}
