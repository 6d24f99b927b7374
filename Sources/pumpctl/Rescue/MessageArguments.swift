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
struct PositionArgument: ExpressibleByArgument {
    let position: RescuePosition

    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1],
            let position = RescuePosition(latitude: latitude, longitude: longitude)
        else { return nil }
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
