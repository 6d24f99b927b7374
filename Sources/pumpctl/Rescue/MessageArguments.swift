public import ArgumentParser
public import LineProtocol

extension RescueCategory: ExpressibleByArgument {
    /// Parses a category as typed, ignoring case.
    public init?(argument: String) {
        guard let known = Self.known.first(where: { $0.rawValue.lowercased() == argument.lowercased() }) else {
            return nil
        }
        self = known
    }

    public static var allValueStrings: [String] { known.map(\.rawValue) }
    public var defaultValueDescription: String { rawValue }
}

extension RescueStatus: ExpressibleByArgument {}

extension RescuePosition {
    /// Parses a position as typed: degrees north and east, as in `35.911595,-79.048759`.
    ///
    /// - Throws: `ValidationError` with the accepted form or range.
    static func typed(_ text: String) throws -> RescuePosition {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1] else {
            throw ValidationError("--at must be latitude,longitude in degrees, e.g. 35.911595,-79.048759")
        }
        guard let position = RescuePosition(latitude: latitude, longitude: longitude) else {
            let wrong =
                (-90...90).contains(latitude) ? "longitude must be from -180 to 180" : "latitude must be from -90 to 90"
            throw ValidationError("--at \(text): the \(wrong) degrees")
        }
        return position
    }
}
