internal import RecordFormat
internal import StrictJSON

/// Folds readings, in order of time, into series of values.
struct Fold {
    private struct Device: Hashable {
        var family: String
        /// The identity of the device; if unknown, its endpoint.
        var identity: String
    }

    private struct Session {
        var device: Device
        var endpoint: String
        /// The identity of the device; nil if unknown.
        var name: String?
    }

    /// The values that come in the same readings. They belong to a whole device, or to one of its parts.
    private struct Group {
        var names = ColumnNames()
        /// The index of each name's series.
        var series: [Int] = []
        /// The session of the last reading.
        var lastSession: Int64 = 0
        /// The number of the last reading with each name, counted by ``readingCount``.
        var lastReadings: [Int] = []
        /// The number of readings so far.
        var readingCount = 0
    }

    private struct GroupKey: Hashable {
        var device: Device
        var part: String
    }

    /// The names of values that identify a part of a device.
    private static let partNames = ["pipe", "port", "point"].map { Array($0.utf8) }

    /// Whether a value identifies a part of a device. Names of another length are not compared.
    private static func isPart(_ member: JSONMember) -> Bool {
        let name = member.nameBytes
        return (4...5).contains(name.count) && partNames.contains { $0.elementsEqual(name) }
    }

    /// The time of the first reading, in milliseconds since 1970-01-01T00:00:00Z.
    private let first: Int64
    /// The milliseconds from the first reading to the last, at least 1.
    private let span: Int64
    /// The number of equal parts into which the time is divided.
    private let columns: Int64
    private var sessions: [Int64: Session] = [:]
    private var groups: [Group] = []
    private var groupIndices: [GroupKey: Int] = [:]
    /// The groups of values that belong to no part, by session.
    private var wholeGroups: [Int64: Int] = [:]
    private var folders: [SeriesFolder] = []

    init(_ times: ClosedRange<Int64>, columns: Int) {
        first = times.lowerBound
        span = max(1, times.upperBound - times.lowerBound)
        self.columns = Int64(max(1, columns))
    }

    var series: [FoldedSeries] { folders.map(\.result) }

    mutating func addSession(_ id: Int64, family: String, endpoint: String, device: String?) {
        sessions[id] = Session(
            device: Device(family: family, identity: device ?? endpoint), endpoint: endpoint, name: device)
    }

    /// Adds a reading of a session. If the previous reading of the same part lacked a value, or came in another
    /// session, the line of that value is interrupted before this reading.
    mutating func add(_ reading: String, _ milliseconds: Int64, _ sessionID: Int64) {
        guard let session = sessions[sessionID] else { return }
        guard let object = JSONValue(reading: reading) else {
            // The part that a damaged reading belonged to, if any, is unknown: interrupt the lines of the values that
            // belong to no part.
            if let group = wholeGroups[sessionID] { groups[group].readingCount += 1 }
            return
        }
        let members = object.members ?? []
        let group = group(of: members, sessionID, session)
        let isSameSession = groups[group].lastSession == sessionID
        groups[group].lastSession = sessionID
        groups[group].readingCount += 1
        groups[group].names.beginReading()
        let count = groups[group].readingCount
        let column = Int(Double(milliseconds - first) / Double(span) * Double(columns))
        for member in members {
            guard let value = member.value.forChart, !Self.isPart(member) else { continue }
            let index = groups[group].names.index(of: member.nameBytes)
            if index == groups[group].series.count {
                groups[group].series.append(folders.count)
                groups[group].lastReadings.append(0)
                folders.append(SeriesFolder(newSeries(member, members, session)))
            }
            let series = groups[group].series[index]
            let isFirst = !isSameSession || groups[group].lastReadings[index] != count - 1
            groups[group].lastReadings[index] = count
            let point = FoldedSeries.Point(
                time: RecordTime(milliseconds: milliseconds), value: value, isFirst: isFirst)
            folders[series].add(point, column: min(column, Int(columns) - 1), endpoint: session.endpoint)
        }
    }

    /// Returns the index of the group to which a reading belongs: that of the device, or of the part that the reading
    /// names.
    private mutating func group(
        of members: [JSONMember], _ id: Int64, _ session: Session
    ) -> Int {
        let hasParts = members.contains(where: Self.isPart)
        if !hasParts, let group = wholeGroups[id] { return group }
        let key = GroupKey(device: session.device, part: hasParts ? Self.part(members) : "")
        let group = groupIndices[key] ?? groups.count
        if group == groups.count {
            groups.append(Group())
            groupIndices[key] = group
        }
        if !hasParts { wholeGroups[id] = group }
        return group
    }

    private func newSeries(
        _ member: JSONMember, _ members: [JSONMember], _ session: Session
    ) -> FoldedSeries {
        FoldedSeries(
            family: session.device.family, endpoint: session.endpoint, device: session.name, part: Self.part(members),
            name: member.name, points: [])
    }

    /// Returns the part that a reading belongs to, such as `pipe 1 port 2 point 3`.
    private static func part(_ members: [JSONMember]) -> String {
        members.filter(isPart)
            .map { "\($0.name) \($0.value.text ?? $0.value.json)" }
            .joined(separator: " ")
    }
}

/// A series under construction, with the lowest and highest point of the current column.
private struct SeriesFolder {
    private var series: FoldedSeries
    private var column = -1
    private var low: FoldedSeries.Point?
    private var high: FoldedSeries.Point?
    /// Whether a line begins at the first point of the current column.
    private var isFirst = false

    init(_ series: FoldedSeries) { self.series = series }

    var result: FoldedSeries {
        var copy = self
        copy.finishColumn()
        return copy.series
    }

    mutating func add(_ point: FoldedSeries.Point, column: Int, endpoint: String) {
        if series.endpoint != endpoint { series.endpoint = endpoint }
        if column != self.column {
            finishColumn()
            self.column = column
            (low, high, isFirst) = (point, point, point.isFirst)
            return
        }
        // A gap within a column is invisible; only a gap at its beginning counts.
        if let low, point.value < low.value { self.low = point }
        if let high, point.value > high.value { self.high = point }
    }

    private mutating func finishColumn() {
        guard let low, let high else { return }
        var points = low == high ? [low] : [low, high].sorted { $0.time < $1.time }
        for index in points.indices { points[index].isFirst = index == 0 && isFirst }
        series.points += points
        (self.low, self.high) = (nil, nil)
    }
}

extension JSONValue {
    /// A list, because hashing a value takes longer than comparing it with a few others.
    private static let words: [(value: JSONValue, number: Double)] = [
        (true, 1), (false, 0), ("off", 0), ("on", 1), ("error", 2),
    ]

    /// The number for a chart: 1 and 0 for true and false, and for a pump's state 0 for off, 1 for on, 2 for error; nil
    /// for any other value that is not a number.
    fileprivate var forChart: Double? { isNumber ? number : Self.words.first { $0.value == self }?.number }
}
