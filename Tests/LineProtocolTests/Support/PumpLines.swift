import Foundation

/// The lines of `Fixtures/pump-lines.txt`; none if the file can't be read.
enum PumpLines {
    static let all: [String] = {
        guard let url = Bundle.module.url(forResource: "pump-lines", withExtension: "txt", subdirectory: "Fixtures"),
            let text = try? String(contentsOf: url, encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").map(String.init)
    }()
}
