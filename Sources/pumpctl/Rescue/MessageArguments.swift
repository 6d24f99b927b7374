import ArgumentParser
import LineProtocol

/// A category as it is typed, in either case.
struct CategoryArgument: ExpressibleByArgument {
    let category: RescueCategory

    init?(argument: String) {
        let known = RescueCategory.known.first { $0.rawValue.lowercased() == argument.lowercased() }
        guard let known else { return nil }
        category = known
    }

    static var allValueStrings: [String] { RescueCategory.known.map(\.rawValue) }
    var defaultValueDescription: String { category.rawValue }
}

/// A place as it is typed: degrees north and east, as in `35.911595,-79.048759`.
struct PositionArgument {
    let position: RescuePosition

    /// - Throws: `ValidationError` that names the form, or the range.
    init(_ text: String) throws(ValidationError) {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1] else {
            throw ValidationError("--at is latitude,longitude in degrees, as 35.911595,-79.048759, not '\(text)'")
        }
        guard let position = RescuePosition(latitude: latitude, longitude: longitude) else {
            let wrong = (-90...90).contains(latitude) ? "longitude is -180 to 180" : "latitude is -90 to 90"
            throw ValidationError("--at \(text): the \(wrong) degrees")
        }
        self.position = position
    }
}

/// A status as it is on the wire.
struct StatusArgument: ExpressibleByArgument {
    let status: RescueStatus

    init?(argument: String) {
        guard let status = RescueStatus(rawValue: argument) else { return nil }
        self.status = status
    }

    static var allValueStrings: [String] { RescueStatus.allCases.map(\.rawValue) }
}
