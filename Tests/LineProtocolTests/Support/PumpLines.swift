import Foundation

/// The lines of `Fixtures/pump-lines.txt`.
enum PumpLines {
    static let all: [String] = {
        guard let url = Bundle.module.url(forResource: "pump-lines", withExtension: "txt", subdirectory: "Fixtures"),
            let text = try? String(contentsOf: url, encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").map(String.init)
    }()
}
